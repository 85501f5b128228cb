#pragma once

#include "experiments/config/experiment.h"

namespace trigram {

/// The least number of exchanges after which means per step are meaningful, if time or chance
/// decides what is exchanged. The standard error of a mean over n exchanges is their standard
/// deviation divided by sqrt(n). The mean also lacks the exchange that is still in flight at the
/// end, a share of 1/n: 10 % for ten exchanges.
constexpr long kLeastExchanges = 10;

/// The cycle over which an experiment's means per step are taken: the cycle of the algorithm, or
/// single steps if it has none.
Cycle rated_cycle(const Experiment& experiment);

/// The least number of steps after the warm-up for which the means per step show the algorithm's
/// cost.
long least_rated_steps(const Experiment& experiment);

/// The step that a timeline shows: the requested step, or by default the first step that ends with
/// an exchange and has at least two steps between the warm-up and itself; but at most the last step
/// of the run.
long shown_step(const Experiment& experiment);

/// Says why a finished run, given its summary, does not show its algorithm's cost: {"why", "of"};
/// null if it does. "why" is a phrase that follows the algorithm's name. "of" says what must not be
/// compared: "rates" means the means per step; "run" means everything, because workers did not
/// exchange what the algorithm has them exchange, or the run ended within the warm-up.
Json shortfall(const Experiment& experiment, const Json& summary);

/// A warning if time alone decides when averages are made and the means cover fewer than ten
/// averages; otherwise empty. The first average begins with the run, so n averages take at least
/// n - 1 times the interval between averages, and bytes per step are up to n / (n - 1) times those
/// of a long run. No step waits for an average, so times per step depend on n only if traffic slows
/// computation down; `shortfall` reports that case.
std::string few_averages(const Experiment& experiment, const Json& summary);

}  // namespace trigram
