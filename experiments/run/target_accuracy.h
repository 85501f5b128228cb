#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/stopping_rule.h"

namespace trigram {

/// Ends a run at the first evaluation at which the mean model is as accurate as wanted. What counts
/// is the run up to that step, as if it had been its last: workers that were ahead are not asked
/// what they did beyond.
class TargetAccuracy final : public StoppingRule {
 public:
  /// `first_model`: after so many steps the workers have a common model for the first time that has
  /// learned something. `waits`: they wait for each other.
  TargetAccuracy(double accuracy, long steps, long first_model = 1, bool waits = true)
      : accuracy_(accuracy),
        steps_(steps),
        first_model_(first_model),
        waits_(waits),
        end_(steps),
        counted_(steps) {}

  void add(const StepRecord& record, std::span<const RankStep> ranks,
           std::span<const std::vector<float>> weights, long furthest) override;
  long end() const override { return end_; }
  long counted() const override { return counted_; }
  std::vector<RankResult> completed(std::span<const RankResult> made) const override;

  /// For a summary: after how many steps, epochs and seconds it was reached, and until when it was
  /// not (`after_s`): the time of the evaluation before, or, where there was none, of the first
  /// common model; null where it was not reached. `epochs` are those of the steps that count.
  Json to_json(double epochs) const;
  /// Whether it was reached in fewer steps than a worker had made by then, who had made all of its
  /// steps or was in the last: many algorithms wait there for everybody.
  bool worker_done() const { return worker_done_; }

 private:
  const double accuracy_;
  const long steps_, first_model_;
  const bool waits_;
  std::atomic<long> end_;
  long counted_;
  std::optional<double> reached_s_;
  bool evaluated_ = false;
  bool worker_done_ = false;
  double after_s_ = 0;               // before this time it was not reached
  std::vector<std::string> hashes_;  // of the weights of those that train, when it was reached
};

/// Null where a run has no target.
std::unique_ptr<TargetAccuracy> make_target_accuracy(const Experiment& experiment);

}  // namespace trigram
