#pragma once

#include "experiments/config/experiment.h"

namespace trigram {

/// Steps that a timing run of this experiment should have, so that it shows what its algorithm
/// costs in the long run: after the algorithm's warm-up as many as the experiment says, and at
/// least some cycles, whole ones. An algorithm whose first cycle ends too late for a simulation
/// keeps the steps of the experiment.
long long_run_steps(const Experiment& experiment);

}  // namespace trigram
