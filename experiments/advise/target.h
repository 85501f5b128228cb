#pragma once

#include <optional>
#include <string>

#include "core/config/option_type.h"
#include "experiments/config/experiment.h"
#include "experiments/results/time_to_target.h"

namespace trigram {

/// The criterion that ranks algorithms.
struct Target {
  /// The accuracy or the loss to be reached as early as possible; empty if the target is
  /// throughput.
  std::optional<TargetLevel> level;
  /// US dollars. If the target is throughput, algorithms are ranked by the samples that the money
  /// buys; if it is a level, those that spend more until then do not reach it.
  std::optional<double> budget_usd = {};

  /// Parses "throughput" or, for example, "accuracy=0.8" or "loss=0.5". Throws ConfigError.
  static Target parse(const std::string& text);
  std::string text() const;
};

/// Throws ConfigError if there is a budget and the cluster has no prices.
void check_budget(const Target& target, const Cluster& cluster);

/// The long-run speed of a finished run, from its summary. If the run became steady, this is the
/// speed of the steps that repeat; otherwise it is the summary's mean per step after the warm-up.
struct Pace {
  double step_s = 0;
  Json samples_per_s;  // sum over workers; null if there are no samples
};
Pace pace(const Json& summary);

/// The infinite cost of a run that never reaches its target.
TimeToTarget never_reached();

/// Returns the reason why a finished run, given its manifest, must not be compared by its target,
/// as a phrase that follows its algorithm's name; empty if it may be compared. A throughput is
/// refused if the run was too short to have meaningful means per step; a time to a level is not.
/// That time is refused if the level was reached in the warm-up, which uses a different algorithm,
/// or after a worker had made all of its steps and stopped learning.
std::string why_not_compared(const Target& target, const Experiment& experiment,
                             const Json& manifest);

/// The cost of a finished run in seconds, given its summary; less is better. For throughput, the
/// cost is 1 / samples_per_s of all workers together, as `pace` computes it. For a level (the
/// target of the run itself), it is the time until the level was reached, as an interval between
/// evaluations. Only the share `goodput` of the time counts (RestartCost). With a budget, the cost
/// of throughput is the price of a sample in dollars.
TimeToTarget cost(const Target& target, const Json& summary, double goodput = 1);

/// The dollars that a finished run spends, given its summary: until it reaches a level, or for a
/// million samples. Empty if prices are not known or the level is not reached.
std::optional<double> dollars(const Target& target, const Json& summary, double goodput = 1);

}  // namespace trigram
