#pragma once

#include <optional>
#include <string>

#include "core/config/option_type.h"
#include "experiments/config/experiment.h"
#include "experiments/results/reached.h"

namespace trigram {

/// The criterion that ranks algorithms.
struct Target {
  std::optional<double> accuracy;  // to be reached as early as possible; empty: throughput

  /// "throughput" or "accuracy=0.8". Throws ConfigError.
  static Target parse(const std::string& text);
  std::string text() const;
};

/// The long-run speed of a finished run, given its summary: that of the repeating steps if the run
/// became steady, otherwise that of all steps that the means cover.
struct Pace {
  double step_s = 0;
  Json samples_per_s;  // sum over workers; null if there are no samples
};
Pace pace(const Json& summary);

/// The infinite cost of a run that never reaches its target.
Reached never();

/// Says why a finished run, given its manifest, must not be compared by its target, as a phrase
/// that follows its algorithm's name; empty if it may be. A time to an accuracy is valid even if
/// the run was too short for means per step, but not if the accuracy was reached in the warm-up,
/// which is a different algorithm.
std::string why_not_compared(const Target& target, const Experiment& experiment,
                             const Json& manifest);

/// The cost of a finished run in seconds, given its summary; less is better. For throughput it is
/// the time per sample over all workers, each at its own pace. For an accuracy (the run's
/// target_accuracy) it is the time until the accuracy was reached, as an interval between
/// evaluations.
Reached cost(const Target& target, const Json& summary);

}  // namespace trigram
