#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace trigram {

/// Warnings about what the rows of advice on this experiment's cluster leave to chance: times of
/// computation, delays and traffic that are drawn at random, of which a row is one draw of some
/// steps. `to_accuracy`: rows are times to an accuracy, which are of one seed.
std::vector<std::string> left_to_chance(const Experiment& experiment, bool to_accuracy);

}  // namespace trigram
