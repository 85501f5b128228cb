#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// A line for each warning and each assumption of these runs. A sentence that applies to some runs
/// only is followed by the swept values that identify them.
std::string caveats(const std::vector<Json>& manifests);

}  // namespace trigram
