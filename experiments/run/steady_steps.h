#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/run/stopping_rule.h"

namespace trigram {

/// Watches the steps of a simulated run of phantoms until they repeat themselves, and says when the
/// run ends then. The steps that are left out count like those of the last cycle.
///
/// Steps are steady when those of a cycle took every rank as long as those of the cycle before, to
/// 1e-9 of the cycle, with the same bytes and messages; when the cycle took all ranks equally long,
/// so that none falls behind; and when the token buckets of links hold what they held a cycle ago,
/// so that credit is neither saved nor used up. Nothing else that a step leaves to the next can
/// differ then, if the cycle is one: algorithms and machines say how long theirs are. It is looked
/// for at up to four times that, as the ticks of a clock may take several steps to come round.
class SteadySteps final : public StoppingRule {
 public:
  struct Options {
    Cycle cycle = {};        // of algorithm and machines together
    long steps = 1;          // of the run, at most
    long shown = 0;          // a step that has to be made
    double after_s = 0;      // when links change for the last time
    double depth_bytes = 0;  // of token buckets
  };
  using Credits = std::function<std::vector<double>()>;  // World::link_credits
  SteadySteps(const Options& options, Credits credits)
      : options_(options),
        credits_(std::move(credits)),
        end_(options.steps),
        cycle_(options.cycle.steps) {}

  void add(const StepRecord& record, std::span<const RankStep> ranks,
           std::span<const std::vector<float>> weights, long furthest) override;

  /// A whole number of cycles is left out, so that the run ends as it would have.
  long end() const override { return end_; }
  long cycles_left_out() const { return (options_.steps - end_) / cycle_; }
  /// What a cycle is, once steps are left out.
  std::vector<StepRecord> cycle() const;
  /// What each rank would have sent with the steps that are left out.
  std::vector<Counters> with_left_out(std::span<const Counters> sent) const;
  /// Where it has been found steady, and how long a step of the cycle takes, for a summary; null
  /// where no step was left out.
  Json to_json() const;

 private:
  struct Step {
    StepRecord record;
    std::vector<RankStep> ranks;
    std::vector<double> seconds;  // by rank
    std::vector<double> credits;  // at the end
  };
  /// Whether the last `cycle` steps repeat those before them.
  bool steady(std::size_t cycle) const;
  bool repeats(const Step& step, const Step& before, double tolerance_s) const;
  bool keeps_time(std::size_t cycle, double seconds, double tolerance_s) const;
  std::span<const Step> last(std::size_t count) const { return std::span(steps_).last(count); }

  const Options options_;
  const Credits credits_;
  long end_;
  long cycle_;                   // what was found, in steps
  std::vector<Step> steps_;      // the last ones; from the end of watching on, as they were then
  std::vector<double> ended_s_;  // the last step, by rank
};

/// Null where a run makes all its steps: it does not ask for less, or what it does never repeats
/// itself. `credits` is World::link_credits.
std::unique_ptr<SteadySteps> make_steady_steps(const Experiment& experiment,
                                               SteadySteps::Credits credits);

}  // namespace trigram
