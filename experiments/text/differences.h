#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/config/option_type.h"

// Describes how the ranks' inputs differ.

namespace trigram {

/// The first fields in which two objects differ, with both values: "/steps is 5 there, 4 on rank
/// 0". Empty if the objects are equal.
std::string fields_apart(const Json& theirs, const Json& on_rank_0);

/// Joins the texts of all ranks. Ranks with the same text are listed together, "rank 1 3: one text;
/// rank 2: another"; ranks with an empty text are left out.
std::string by_ranks(const std::vector<std::string>& texts);

}  // namespace trigram
