#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// Runs are compared by their means per step, or by the time until they reach an accuracy.
enum class Compared { rates, accuracy };

/// Why a finished run, given its manifest, does not show what its algorithm costs, as its summary
/// says (`shortfall`; docs/summary.md), to follow "it"; empty where it does. Such a run must not be
/// compared with others. In manifests of older programs, which do not say it, only runs count that
/// sent no message, or ended before the first regular exchange (`cycle_steps`).
std::string lack_of_exchanges(const Json& manifest, Compared compared = Compared::rates);

}  // namespace trigram
