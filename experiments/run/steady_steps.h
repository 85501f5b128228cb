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
/// count like those of the last cycle.
///
/// Steps are steady if all of this holds: every rank took as long for each step of the last cycle
/// as for the same step one cycle before, to 1e-9 of the cycle, with the same bytes and messages;
/// the cycle took all ranks equally long, so that none falls behind; and the token buckets of links
/// are as full as one cycle before, so that credit is neither saved nor used up. Nothing else
/// carries over from one step to the next if the cycle is a true period; algorithms and machines
/// declare their periods. The search includes up to four times the declared period, because a clock
/// may need several steps to be in phase again.
class SteadySteps final : public StoppingRule {
 public:
  struct Options {
    Cycle cycle = {};        // common period of algorithm and machines
    long steps = 1;          // of the full run
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

  /// Leaves out a whole number of cycles, so that the run ends in the same phase as the full run.
  long end() const override { return end_; }
  long cycles_left_out() const { return (options_.steps - end_) / cycle_; }
  /// The steps of one cycle, if steps were left out.
  std::vector<StepRecord> cycle() const;
  /// Adds to `sent`, by rank, what the rank would have sent in the steps that were left out.
  std::vector<Counters> with_left_out(std::span<const Counters> sent) const;
  /// For a summary: at which step the run became steady, the cycle, and its mean step time. Null if
  /// no step was left out.
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
  bool keeps_time(std::size_t cycle, double seconds, double tolerance_s) const;
  std::span<const Step> last(std::size_t count) const { return std::span(steps_).last(count); }

  const Options options_;
  const Credits credits_;
  long end_;
  long cycle_;                   // the cycle that was found, in steps
  std::vector<Step> steps_;      // the latest steps; no longer updated once a cycle has been found
  std::vector<double> ended_s_;  // end of the latest step, by rank
};

/// Null if the run must make all its steps, because it does not ask for fewer or because its steps
/// never repeat exactly. `credits` is World::link_credits.
std::unique_ptr<SteadySteps> make_steady_steps(const Experiment& experiment,
                                               SteadySteps::Credits credits);

}  // namespace trigram
