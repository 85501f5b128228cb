#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// Pointers to those parts of a cluster's description that are drawn at random in every step, such
/// as "/cluster/run_times".
std::vector<std::string> drawn_at_random(const Cluster& cluster);

/// Watches how far the mean time of a step depends on the draws of a simulated run.
class DrawnSteps {
 public:
  explicit DrawnSteps(const Experiment& experiment);

  /// Steps in order.
  void add(const StepRecord& record);
  /// A sentence where the mean, in seconds, is known less exactly than to a tie; else empty.
  std::string warning(double mean_s) const;
  /// The standard error of the mean time of a step by the method of batch means: from the means of
  /// ten batches of consecutive steps, each of whole cycles of the algorithm. Infinite where there
  /// are fewer than two batches.
  double standard_error_s() const;

 private:
  const std::vector<std::string> drawn_;
  const Cycle cycle_;
  std::vector<double> steps_s_;  // after the warm-up
};

}  // namespace trigram
