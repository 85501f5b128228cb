#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace trigram {

/// Warnings about the random parts of results on this experiment's cluster: each row is one draw of
/// a limited number of steps if computation times, delays or traffic are drawn at random.
/// `to_accuracy` is true if rows are times to an accuracy, which depend on one seed.
std::vector<std::string> randomness_notes(const Experiment& experiment, bool to_accuracy);

}  // namespace trigram
