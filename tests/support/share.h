#pragma once

#include <string>
#include <vector>

#include "core/context.h"

namespace trigram::test {

/// Gives every rank every rank's text, where ranks do not share their memory. `texts` are by rank;
/// each has its own.
void share(const Context& ctx, std::vector<std::string>& texts);

}  // namespace trigram::test
