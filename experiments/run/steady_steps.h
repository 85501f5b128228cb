#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/stopping_rule.h"

namespace trigram {

/// Ends a simulated run of a phantom workload once its steps repeat. The steps that are left out
/// count like the steps of the last cycle.
///
/// Steps are steady if three conditions hold. First, every rank took as long for each step of the
/// last cycle as for the same step one cycle before, to 1e-9 of the cycle's time, with the same
/// bytes and messages. Second, the cycle took all ranks the same time, so that none falls behind.
/// Third, the token buckets of links are as full as one cycle before, so that credit is neither
/// saved nor used up. These conditions suffice if the cycle is a period of the algorithm and of the
/// machines, which declare their periods. The search tries cycles of up to four declared periods,
/// because an algorithm's clock may need several periods to be in phase again.
class SteadySteps final : public StoppingRule {
 public:
  struct Options {
    Cycle cycle = {};        // common period of algorithm and machines
    long steps = 1;          // number of steps of the full run
    long shown = 0;          // the step of the timeline, which must be simulated
    double after_s = 0;      // time of the last change of links
    double depth_bytes = 0;  // depth of the links' token buckets
  };
  using Credits = std::function<std::vector<double>()>;  // World::link_credits
  SteadySteps(const Options& options, Credits credits)
      : options_(options),
        credits_(std::move(credits)),
        end_(options.steps),
        cycle_(options.cycle.steps) {}

  void add(const StepRecord& record, std::span<const RankStep> ranks,
           std::span<const std::vector<float>> weights, long furthest) override;

  /// The number of steps to make. A whole number of cycles is left out, so that the run ends in the
  /// same phase as the full run.
  long end() const override { return end_; }
  long cycles_left_out() const { return (options_.steps - end_) / cycle_; }
  /// The steps of one cycle; empty if no steps were left out.
  std::vector<StepRecord> cycle() const;
  /// Adds to `sent`, which is indexed by rank, the traffic of the steps that were left out.
  std::vector<Counters> with_left_out(std::span<const Counters> sent) const;
  /// The value of "steady" in a summary: the step at which the run became steady, the length of the
  /// cycle, the number of steps left out, and the mean step time of the cycle. Null if no step was
  /// left out.
  Json to_json() const;

 private:
  struct Step {
    StepRecord record;
    std::vector<RankStep> ranks;
    std::vector<double> seconds;  // step time by rank
    std::vector<double> credits;  // at the end of the step
  };
  /// True if the last `cycle` steps repeat the `cycle` steps before them.
  bool steady(std::size_t cycle) const;
  bool repeats(const Step& step, const Step& before, double tolerance_s) const;
  bool takes_equal_time(std::size_t cycle, double seconds, double tolerance_s) const;
  std::span<const Step> last(std::size_t count) const { return std::span(steps_).last(count); }

  const Options options_;
  const Credits credits_;
  long end_;
  long cycle_;               // length in steps of the cycle that was found
  std::vector<Step> steps_;  // the latest steps; not updated any more once a cycle has been found
  std::vector<double> ended_s_;  // end of the latest step, by rank
};

/// Returns null if the run must make all its steps, because it does not ask for fewer or because
/// its steps never repeat exactly. `credits` is World::link_credits.
std::unique_ptr<SteadySteps> make_steady_steps(const Experiment& experiment,
                                               SteadySteps::Credits credits);

}  // namespace trigram
