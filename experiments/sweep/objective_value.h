#pragma once

#include <optional>
#include <string>

#include "experiments/config/tune_options.h"

namespace trigram {

/// The cost of a finished run, or the reason why it has none, as a phrase that follows "it".
struct ObjectiveValue {
  std::optional<double> value;
  std::string why_not;
  /// The true cost lies between `least` and `value`, which differ for a time to a target: it was
  /// reached after the evaluation before.
  double least = 0;
};

/// Computes the cost from a run's manifest. If the steps of the run repeat, the step time is that
/// of the steps that repeat, as in `advise`.
ObjectiveValue objective_value(const Objective& objective, const Json& manifest);

/// Why a run has no weighted cost if this key of its summary is null.
std::string lacks(const std::string& key);

/// A cost with its unit, such as "561.3 ms"; a weighted cost has none.
std::string cost_text(const Objective& objective, double value);

/// Compares how many samples a step of different points is of.
class SamplesPerStep {
 public:
  void add(const Json& summary);
  /// Says that times of steps do not compare throughput; empty if all steps are of as many samples.
  std::string warning() const;

 private:
  double least_ = 0, most_ = 0;  // 0: none yet
};

}  // namespace trigram
