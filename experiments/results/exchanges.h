#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// The quantity by which runs are compared: their means per step, or the time in which they reach
/// an accuracy.
enum class Compared { rates, accuracy };

/// Says why a finished run, given its manifest, does not show its algorithm's cost, so that it must
/// not be compared; empty if it does. The text is the summary's `shortfall` (docs/summary.md) and
/// follows "it".
std::string missing_exchanges(const Json& manifest, Compared compared = Compared::rates);

}  // namespace trigram
