#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace trigram {

/// Warnings about the random parts of results on this experiment's cluster. If computation times,
/// delays or traffic are drawn at random, each row of the answer is one draw over a limited number
/// of steps. `to_accuracy` is true if rows are times to an accuracy, which depend on a single seed.
std::vector<std::string> randomness_notes(const Experiment& experiment, bool to_accuracy);

}  // namespace trigram
