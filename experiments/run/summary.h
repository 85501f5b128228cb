#pragma once

#include <optional>
#include <span>

#include "experiments/run/pace_trend.h"
#include "experiments/run/rank_main.h"
#include "experiments/run/tails.h"

namespace trigram {

/// Sums over steps.
struct StepSums {
  long steps = 0;
  /// Seconds from the beginning of the first step until the last rank that trains ended the last
  /// step.
  double time_s = 0;
  std::vector<double> taken_s;        // each rank's own time; empty if there are no steps
  Counters mean;                      // times only
  double computing_s = 0;             // summed over the ranks that train, without delays
  Counters sent;                      // bytes and messages
  long updates = 0;                   // number of updates with a recorded staleness
  std::vector<double> batches;        // by rank, in its own steps
  std::vector<StepCounts> completed;  // by rank, within time_s; empty if ranks wait for each other
};

/// Adds up the steps of a run. Means per step cover only whole cycles of the algorithm, from the
/// end of the warm-up to the end of the last whole cycle, because a partial cycle may cost more or
/// less per step. If there is no whole cycle, means cover all steps.
class Summary {
 public:
  /// `waits` is true if ranks wait for each other, or if the lead of a rank over another is
  /// bounded. `interval_steps` is the number of steps from one exchange to the next.
  explicit Summary(const Cycle& cycle = {}, bool waits = true, long interval_steps = 1)
      : cycle_(cycle),
        waits_(waits),
        drops_last_(!waits && !cycle.exact && cycle.steps == 1),
        tails_(cycle.first_step, interval_steps) {}
  void add(const StepRecord& record);
  /// Counts `times` repetitions of `cycle`, as if they had been made before the last simulated
  /// step. `cycle` must be a whole number of the algorithm's cycles.
  void repeat(std::span<const StepRecord> cycle, long times);
  /// The "summary" of a manifest. It has times as means per step and per rank that trains, bytes
  /// and messages as totals over ranks and steps, and the last evaluation. A value that does not
  /// apply is null. Times and totals end with the last step; messages that ranks send after it are
  /// excluded. `messages_per_s` is the speed of the simulator in messages per second of real time;
  /// it is empty for runs in real time. `priced_batch` is a worker's batch in the model that gives
  /// the times, if that is not the model that is trained.
  Json to_json(std::span<const RankResult> ranks, std::optional<double> messages_per_s,
               std::optional<std::size_t> priced_batch = {}) const;

  /// The number of mini-batches that each rank took in the run.
  std::vector<double> batches() const;
  /// The sums over all steps.
  const StepSums& all() const { return all_; }
  /// The sums over the steps that the means cover.
  StepSums rated() const;

 private:
  void note_trend(const StepRecord& record);
  void add_staleness(const StepRecord& record, long times);
  void add_noise(Json& j, std::span<const RankResult> ranks) const;
  StepSums paced() const;
  Json rates_json(const StepSums& rated, std::span<const RankResult> ranks) const;

  Cycle cycle_;
  bool waits_;
  bool drops_last_;  // the means of ranks' own times leave out the last step
  StepSums all_;
  StepSums before_last_;  // used if ranks do not wait for each other
  StepSums warm_up_;      // until the end of the warm-up
  StepSums whole_;        // until the end of the last whole cycle
  StepRecord last_;
  PaceTrend trend_, trend_before_last_;
  // The time at the end of the latest whole cycle: of the last rank, or of ranks that do not wait
  // for each other the mean.
  double cycle_end_s_ = 0;
  Steps::Staleness staleness_;
  GradientSquares squares_;  // sums over all steps
  Tails tails_;
};

/// The number of messages that the ranks sent.
double messages_of(std::span<const RankResult> ranks);

}  // namespace trigram
