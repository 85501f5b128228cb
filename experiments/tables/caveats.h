#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// A line for each warning and each assumption of these runs. A sentence that only some runs have
/// is followed by the swept values that tell those runs from the others.
std::string caveats(const std::vector<Json>& manifests);

/// Which of these runs took simulated time and which real time, as a line; empty where all are
/// simulated.
std::string kinds_of_time(const std::vector<Json>& manifests);

}  // namespace trigram
