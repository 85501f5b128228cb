#pragma once

#include <optional>
#include <span>

#include "experiments/run/rank_main.h"

namespace trigram {

/// Adds up the steps of a run.
class Summary {
 public:
  void add(const StepRecord& record);
  /// Steps that repeat those of `cycle` so many times, without having been made. They end before
  /// the last that was.
  void repeat(std::span<const StepRecord> cycle, long times);
  /// The "summary" of a manifest: means per step and rank that trains of times, totals over ranks
  /// and steps of bytes and messages, the last evaluation; null where a value does not apply. Times
  /// and totals end with the last step: what ranks send after theirs is in neither.
  /// `messages_per_s` is the speed of the simulator, empty in real time; `priced_batch` is a
  /// worker's batch of the model that times are of, if that is another than the one that is
  /// trained.
  Json to_json(std::span<const RankResult> ranks, std::optional<double> messages_per_s,
               std::optional<std::size_t> priced_batch = {}) const;

 private:
  void count(const StepRecord& record, long times);
  double steps_ = 0;
  StepRecord last_;
  Counters mean_;  // times, summed over steps
  Counters sent_;  // bytes and messages, summed over steps
  std::vector<double> batches_;  // by rank, summed over steps
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
