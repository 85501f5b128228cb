#pragma once

#include <vector>

#include "core/config/component.h"
#include "core/optimizer.h"

namespace trigram {

/// Makes a rank's optimizer: ctx for its device, the workload that it will step (already
/// bucketized), and the number of steps of the run, which decay schedules end at.
struct OptimizerEntry : Component<Optimizer, const Context&, Workload&, long> {
  /// Whether the optimizer has a moment (see Optimizer) with these options.
  std::function<bool(const Json& resolved)> has_moment;
  /// Whether it divides by a variance of gradients, which is 0 before the first step.
  bool has_variance = false;
};
const std::vector<OptimizerEntry>& optimizers();

}  // namespace trigram
