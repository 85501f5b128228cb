#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// JSON pointers of the cluster's properties that are drawn at random in every step, such as
/// "/cluster/run_times".
std::vector<std::string> drawn_at_random(const Cluster& cluster);

/// Estimates how much the mean step time of a simulated run depends on random draws, such as drawn
/// computation times.
class DrawnSteps {
 public:
  explicit DrawnSteps(const Experiment& experiment);

  /// Records must come in the order of steps.
  void add(const StepRecord& record);
  /// Returns a warning if the standard error of the mean step time `mean_s`, in seconds, exceeds
  /// the fraction kTie of it; otherwise an empty text.
  std::string warning(double mean_s) const;
  /// Standard error of the mean step time in seconds, by the method of batch means. The steps are
  /// split into ten batches of consecutive whole cycles of the algorithm, or into fewer batches if
  /// there are fewer cycles. Infinite if there are fewer than two batches.
  double standard_error_s() const;

 private:
  const std::vector<std::string> drawn_;  // see drawn_at_random; empty if the run is not simulated
  const Cycle cycle_;
  std::vector<double> steps_s_;  // step times after the warm-up
};

}  // namespace trigram
