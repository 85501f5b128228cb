#pragma once

#include "experiments/config/experiment.h"

namespace trigram {

/// How many exchanges a run needs for its means per step to say anything, where time or chance
/// decide what is exchanged. A mean over n of them is off by their deviation over sqrt(n), and it
/// lacks the one that is still under way in the background, a share of 1/n, which is 10 % for ten.
constexpr long kLeastExchanges = 10;

/// The cycle over which an experiment's means per step are taken: the algorithm's own, or single
/// steps where it has none.
Cycle rated_cycle(const Experiment& experiment);

/// How many steps after a warm-up a run needs so that its means per step show what its algorithm
/// costs.
long least_rated_steps(const Experiment& experiment);

/// The step that a timeline shows: the one that is asked for, or else the first that has a step
/// behind it after the warm-up and at whose end an exchange is due; the last one where the run has
/// fewer.
long shown_step(const Experiment& experiment);

/// Why a finished run, given its summary, does not show what its algorithm costs: {"why", "of"}, or
/// null where it does. "why" is a phrase that follows the name of the algorithm. "of" says what
/// must not be compared: "rates", the means per step, or "run", everything, since its workers have
/// not exchanged what the algorithm has them exchange, or not after its warm-up.
Json shortfall(const Experiment& experiment, const Json& summary);

/// A warning where time alone decides when averages are made and the means are over fewer than ten
/// of them, empty otherwise. The first average begins with the run, so n averages take at least
/// n - 1 times the time from one to the next, and bytes per step are up to n / (n - 1) times those
/// of a long run. No step waits for an average, so times per step depend on the number only where
/// messages slow computation down, which `shortfall` says.
std::string few_averages(const Experiment& experiment, const Json& summary);

}  // namespace trigram
