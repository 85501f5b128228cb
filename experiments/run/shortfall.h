#pragma once

#include "experiments/config/experiment.h"

namespace trigram {

/// The least number of exchanges after which means per step are meaningful, if time or chance
/// decides what is exchanged. The standard error of a mean over n exchanges is their standard
/// deviation divided by sqrt(n). The mean also lacks the exchange that is still in flight at the
/// end, which is 1/n of the total: 10 % for ten exchanges.
constexpr long kLeastExchanges = 10;

/// The cycle over which means per step are taken: the cycle of the algorithm, or a single step if
/// it has no cycle.
Cycle rated_cycle(const Experiment& experiment);

/// The least number of steps after the warm-up with which the means per step show the algorithm's
/// cost.
long least_rated_steps(const Experiment& experiment);

/// The step that a timeline shows: the requested step or, by default, the first step that ends with
/// an exchange and is preceded by at least two steps after the warm-up; in both cases at most the
/// last step of the run.
long shown_step(const Experiment& experiment);

/// Returns the reason why a finished run, given its summary, does not show its algorithm's cost, as
/// {"why", "of"}; null if it does. "why" is a phrase that follows the algorithm's name. "of" names
/// the results that must not be compared: "rates" means the means per step; "run" means everything,
/// because workers did not exchange what the algorithm has them exchange, or the run ended within
/// the warm-up.
Json shortfall(const Experiment& experiment, const Json& summary);

/// Returns a warning if time alone decides when averages are made and the means cover fewer than
/// ten averages; otherwise an empty text. The first average begins with the run, so n averages take
/// at least n - 1 times the interval between averages, and bytes per step are up to n / (n - 1)
/// times those of a long run. No step waits for an average, so times per step depend on n only if
/// traffic slows computation down; `shortfall` reports that case.
std::string few_averages_warning(const Experiment& experiment, const Json& summary);

}  // namespace trigram
