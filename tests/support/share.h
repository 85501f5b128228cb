#pragma once

#include <string>
#include <vector>

#include "core/context.h"

namespace trigram::test {

/// Gives every rank the texts of all ranks, for worlds whose ranks do not share memory. `texts` is
/// indexed by rank; on entry each rank has set its own text.
void share(const Context& ctx, std::vector<std::string>& texts);

}  // namespace trigram::test
