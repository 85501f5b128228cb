#pragma once

#include <optional>
#include <span>

#include "experiments/run/rank_main.h"

namespace trigram {

/// Sums over steps.
struct StepSums {
  long steps = 0;
  double time_s = 0;            // from the first of them until the last rank that trains ended them
  std::vector<double> taken_s;  // by rank, its own; empty for no steps
  Counters mean;                // times
  Counters sent;                // bytes and messages
  long updates = 0;             // whose staleness was recorded
  std::vector<double> batches;  // by rank, in its own steps
  std::vector<Made> made;       // by rank, in time_s; empty where ranks wait for each other
};

/// Adds up the steps of a run. Means per step are over whole cycles of the algorithm alone, from
/// the end of its warm-up to that of the last whole cycle: a part of a cycle costs more or less
/// than the same part of a mean cycle. A run that has no whole cycle has means over all steps.
class Summary {
 public:
  /// `waits`: ranks wait for each other, or none gets ahead of another without a bound.
  explicit Summary(const Cycle& cycle = {}, bool waits = true)
      : cycle_(cycle), waits_(waits), drops_last_(!waits && !cycle.exact && cycle.steps == 1) {}
  void add(const StepRecord& record);
  /// Steps that repeat those of `cycle`, which are whole cycles of the algorithm, so many times,
  /// without having been made. They end before the last that was.
  void repeat(std::span<const StepRecord> cycle, long times);
  /// The "summary" of a manifest: means per step and rank that trains of times, totals over ranks
  /// and steps of bytes and messages, the last evaluation; null where a value does not apply. Times
  /// and totals end with the last step: what ranks send after theirs is in neither.
  /// `messages_per_s` is the speed of the simulator, empty in real time; `priced_batch` is a
  /// worker's batch of the model that times are of, if that is another than the one that is
  /// trained.
  Json to_json(std::span<const RankResult> ranks, std::optional<double> messages_per_s,
               std::optional<std::size_t> priced_batch = {}) const;

  /// Mini-batches that each rank took until the end.
  std::vector<double> batches() const;

 private:
  void note_staleness(const StepRecord& record, long times);
  StepSums rated() const;
  StepSums paced() const;
  Json rates_json(const StepSums& rated, std::span<const RankResult> ranks) const;

  Cycle cycle_;
  bool waits_;
  bool drops_last_;  // from the means of ranks' own times
  StepSums all_;
  StepSums before_last_;      // where ranks do not wait for each other
  StepSums warm_up_, whole_;  // up to the end of the warm-up, and of the last whole cycle
  StepRecord last_;
  Steps::Staleness staleness_;
};

/// How many messages the ranks sent.
double messages_of(std::span<const RankResult> ranks);

/// Seconds below which no network carries what has arrived of what each rank sent. Those that the
/// ranks spent before their first steps count as little as in the time of a run.
double lower_bound(const Cluster& cluster, std::span<const Counters> arrived,
                   std::span<const RankResult> ranks);
/// Throws InvariantError when the reported time of a simulated run is below its lower bound.
void check_lower_bound(double time_s, double bound_s);

}  // namespace trigram
