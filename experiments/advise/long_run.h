#pragma once

#include "experiments/config/experiment.h"

namespace trigram {

/// Steps that a timing run of this experiment should have, so that it shows what its algorithm
/// costs in the long run: after the algorithm's warm-up as many as the experiment says, and at
/// least some cycles, whole ones. An algorithm whose first cycle ends too late for a simulation
/// keeps the steps of the experiment.
long long_run_steps(const Experiment& experiment);

/// Steps between evaluations in a run of this experiment that is to show when it reaches an
/// accuracy: so few that a run has up to some hundred evaluations, or as many as the experiment
/// says where that is `asked` for. Workers that average every H steps have a common model after an
/// average alone, so these steps are a multiple of H, where the run is as long.
long evaluated_every(const Experiment& experiment, bool asked);

}  // namespace trigram
