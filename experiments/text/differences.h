#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/config/option_type.h"

// How it is said that processes of a job, which should all be told the same, were not.

namespace trigram {

/// The first fields in which two objects differ, with both values: "/steps is 5 there, 4 on rank
/// 0". Empty where they are the same.
std::string fields_apart(const Json& theirs, const Json& on_rank_0);

/// By rank, what is to be said of each; nothing of those whose text is empty. Ranks of which the
/// same is to be said stand together: "rank 1 3: one text; rank 2: another".
std::string by_ranks(const std::vector<std::string>& texts);

}  // namespace trigram
