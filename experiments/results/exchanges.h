#pragma once

#include <string>

#include "core/config/kinds.h"

namespace trigram {

/// Why a finished run, given its manifest, does not show what its algorithm costs: several workers
/// sent no message, or the run ended before the algorithm's first regular exchange (the summary's
/// `cycle_steps`). Empty where it does. Such a run must not be compared with others.
std::string lack_of_exchanges(const Json& manifest);

}  // namespace trigram
