#pragma once

#include "experiments/config/experiment.h"

namespace trigram {

/// How many exchanges a run needs for its means per step to say anything, where time or chance
/// decide what is exchanged. A mean over n of them is off by their deviation over sqrt(n), and it
/// lacks the last of those that go on in the background, which is 1/n: ten bound the latter at 10
/// %.
constexpr long kLeastExchanges = 10;

/// The cycle over which an experiment's means per step are taken: the algorithm's own, or single
/// steps where it has none.
Cycle rated_cycle(const Experiment& experiment);

/// How many steps after a warm-up a run needs so that its means per step show what its algorithm
/// costs.
long least_rated_steps(const Experiment& experiment);

/// What a finished run, given its summary, lacks to show what its algorithm costs: {"why", "of"},
/// or null. "why" follows the name of the algorithm. "of" says what must not be compared: "rates",
/// its means per step, or "run", nothing of it, as its workers have not exchanged what they are to.
Json shortfall(const Experiment& experiment, const Json& summary);

}  // namespace trigram
