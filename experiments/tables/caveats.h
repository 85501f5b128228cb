#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// A line for each warning and each assumption of these runs. A sentence that applies to some runs
/// only is followed by the swept values that identify them.
std::string caveats(const std::vector<Json>& manifests);

/// A line that says which of these runs took simulated time and which real time; empty if all are
/// simulated.
std::string kinds_of_time(const std::vector<Json>& manifests);

}  // namespace trigram
