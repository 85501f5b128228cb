#pragma once

#include <string>
#include <vector>

#include "core/context.h"

namespace trigram::test {

/// An allgather of texts, for worlds whose ranks do not share memory. `texts` is indexed by rank;
/// on entry each rank has set its own text.
void allgather_texts(const Context& ctx, std::vector<std::string>& texts);

}  // namespace trigram::test
