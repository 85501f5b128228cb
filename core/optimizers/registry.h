#pragma once

#include <vector>

#include "core/config/component.h"
#include "core/optimizer.h"

namespace trigram {

/// An optimizer by name. `make` creates the optimizer of one rank. Its arguments are a context with
/// the rank's device, the workload whose weights it updates (already bucketized), and the number of
/// steps of the run, at which decay schedules end.
struct OptimizerEntry : Component<Optimizer, const Context&, Workload&, long> {
  /// True if the optimizer has a moment (see Optimizer) with these options.
  std::function<bool(const Json& resolved)> has_moment;
  /// True if the optimizer divides by a moving average of squared gradients, which is 0 before the
  /// first step.
  bool has_variance = false;
  /// The information about tensors that the optimizer needs: none if it is element-wise; their
  /// lengths if it takes their norms; or their shapes as matrices.
  enum class Needs { elements, tensors, shapes } needs = Needs::elements;
  /// True if the optimizer keeps anything but a number of steps from one step to the next, with
  /// these options.
  std::function<bool(const Json& resolved)> has_state = [](const Json&) { return true; };
};
/// All optimizers, in the order in which they are listed to users.
const std::vector<OptimizerEntry>& optimizers();

OptimizerEntry sgd_entry();
OptimizerEntry adam_entry();
OptimizerEntry adamw_entry();
OptimizerEntry rmsprop_entry();
OptimizerEntry adagrad_entry();
OptimizerEntry lion_entry();
OptimizerEntry lamb_entry();
OptimizerEntry lars_entry();
OptimizerEntry muon_entry();

}  // namespace trigram
