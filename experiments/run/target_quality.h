#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/stopping_rule.h"

namespace trigram {

/// Ends a run at the first evaluation in which the mean model reaches the target, an accuracy or a
/// loss. The run counts up to that step, as if it had been the last one; later steps of faster
/// workers do not count.
class TargetQuality final : public StoppingRule {
 public:
  /// `first_model` is the number of steps after which workers first have a common model that has
  /// learned something, and `interval_steps` is the number of steps from one common model to the
  /// next. `waits` is true if workers wait for each other.
  TargetQuality(TargetLevel target, long steps, long first_model = 1, long interval_steps = 1,
                bool waits = true)
      : target_(target),
        steps_(steps),
        first_model_(first_model),
        interval_steps_(interval_steps),
        waits_(waits),
        end_(steps),
        counted_(steps) {}

  void add(const StepRecord& record, std::span<const RankStep> ranks,
           std::span<const std::vector<float>> weights, long furthest) override;
  long end() const override { return end_; }
  long counted() const override { return counted_; }
  std::vector<RankResult> completed(std::span<const RankResult> results) const override;

  /// The value of "target" in a summary: the level under its name, the steps, epochs and seconds
  /// after which it was reached, and the time before which it cannot have been reached (`after_s`,
  /// see TimeToTarget). These values are null if the target was not reached. `epochs` is the number
  /// of epochs in the steps that count; empty if the workload has no data set and hence no epochs.
  Json to_json(std::optional<double> epochs) const;
  /// True if the target was reached before the last step, but a worker had already completed all of
  /// its steps or was in its last step, in which many algorithms wait for all workers.
  bool worker_done() const { return worker_done_; }

 private:
  struct Evaluated {
    long steps;              // of training before it
    double time_s, lacking;  // the latter as TargetLevel::lacking
  };

  /// How far the quality of `at` is from the line between those of its neighbours; 0 if one of them
  /// is not finite.
  static double deviation(const Evaluated& before, const Evaluated& at, const Evaluated& after);
  double after_s() const;

  const TargetLevel target_;
  const long steps_, first_model_, interval_steps_;
  const bool waits_;
  std::atomic<long> end_;
  long counted_;
  std::optional<double> reached_s_;
  bool worker_done_ = false;
  double first_model_s_ = 0;            // when the first common model existed
  std::vector<Evaluated> evaluations_;  // up to the one that reaches the target
  /// Hashes of the weights of the ranks that train, when the target was reached.
  std::vector<std::string> hashes_;
};

/// Returns null if a run has no target.
std::unique_ptr<TargetQuality> make_target_quality(const Experiment& experiment);

/// Returns a warning if workers have equal models only after their averages and some evaluations
/// are between averages, of a mean model that no worker has; otherwise an empty text.
std::string models_of_nobody_warning(const Experiment& experiment);

}  // namespace trigram
