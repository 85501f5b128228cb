#pragma once

#include <string>

#include "experiments/config/experiment.h"

namespace trigram {

/// The number of steps after the warm-up from which a run of workers that leave lock step counts as
/// its long run. It is an observation, not a bound: pairwise exchanges among eight workers left
/// lock step after 1,000 to 8,000 steps.
constexpr long kStepsOutOfLockStep = 10'000;

/// True if the workers of an experiment may lose their lock step in the course of a run: something
/// differs between workers or NICs, and not all workers wait for each other in every exchange.
/// While messages of different pairs avoid each other, steps are short. Small differences add up
/// until messages meet on links, which delays their workers, so that more messages meet. Nothing in
/// the steps before this happens shows that it will.
bool leaves_lock_step(const Experiment& experiment);

/// Returns a warning if the run is simulated, its workers may leave lock step, and it may be too
/// short to show that; otherwise an empty text.
std::string lock_step_warning(const Experiment& experiment, const Json& summary);

}  // namespace trigram
