#pragma once

#include <optional>
#include <string>

#include "core/config/option_type.h"
#include "experiments/config/experiment.h"
#include "experiments/results/reached.h"

namespace trigram {

/// What the best algorithm is best at.
struct Target {
  std::optional<double> accuracy;  // to be reached as early as can be; none: throughput

  /// "throughput" or "accuracy=0.8". Throws ConfigError.
  static Target parse(const std::string& text);
  std::string text() const;
};

/// How fast a finished run was in the long run, given its summary: in the steps that repeat, where
/// it came to them, else in all.
struct Pace {
  double step_s = 0;
  Json samples_per_s;  // of all workers; null where there are none
};
Pace pace(const Json& summary);

/// The cost of what never reaches its target: infinite.
Reached never();

/// Why a finished run, given its manifest, must not be compared by its target, to follow the name
/// of its algorithm; empty where it may be. A time to an accuracy counts though the run was too
/// short for means per step, but not one that was reached in a warm-up, in which the algorithm is
/// another.
std::string lack(const Target& target, const Experiment& experiment, const Json& manifest);

/// What a finished run, given its summary, costs in seconds: the less, the better. For throughput
/// that is the time per sample, each worker at its own pace; for an accuracy, the run's
/// target_accuracy, the time until it was reached, as far as its evaluations tell.
Reached cost(const Target& target, const Json& summary);

}  // namespace trigram
