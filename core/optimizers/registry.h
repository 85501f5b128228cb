#pragma once

#include <vector>

#include "core/config/component.h"
#include "core/optimizer.h"

namespace trigram {

/// Creates a rank's optimizer. Arguments: a context with its device, the workload that it steps
/// (already bucketized), and the number of steps of the run, at which decay schedules end.
struct OptimizerEntry : Component<Optimizer, const Context&, Workload&, long> {
  /// True if the optimizer has a moment (see Optimizer) with these options.
  std::function<bool(const Json& resolved)> has_moment;
  /// True if it divides by a variance of gradients, which is 0 before the first step.
  bool has_variance = false;
};
const std::vector<OptimizerEntry>& optimizers();

}  // namespace trigram
