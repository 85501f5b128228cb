#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "experiments/run/step_record.h"

namespace trigram {

/// How the times of steps are distributed, and how much of them is lost to slow workers.
///
/// If ranks wait for each other, a step is one of the job. If they do not, each step of each rank
/// that trains counts, except the last step of a run, in which many algorithms wait for everybody.
/// Steps of the warm-up do not count, unless the run ends within it.
class Tails {
 public:
  /// `first_step` is the first step after the warm-up; `interval_steps` is the number of steps from
  /// one exchange to the next.
  Tails(long first_step, long interval_steps)
      : first_step_(first_step), interval_steps_(std::max(interval_steps, 1L)) {}

  void add(const StepRecord& record);
  /// Counts `times` repetitions of the records, which are a whole number of intervals.
  void repeat(std::span<const StepRecord> cycle, long times);

  /// Adds "step_p50_s", "step_p95_s" and "step_p99_s" to a summary: p per cent of the steps take at
  /// most this time (the nearest rank). Also adds "straggler_share", the share of the time by which
  /// the slowest worker's computation and delays, from one exchange to the next, exceed the mean of
  /// the workers. It is null if workers do not wait for each other, or if no exchange was due.
  void add_to(Json& summary) const;

 private:
  void add_steps(const StepRecord& record, long times);
  void add_work(const StepRecord& record, long times);
  std::vector<std::pair<double, long>> samples() const;

  long first_step_, interval_steps_;
  std::vector<std::pair<double, long>> steps_;  // seconds, and how often
  std::vector<std::vector<double>> own_s_;      // of each rank, if ranks do not wait
  std::vector<double> ended_s_;                 // by rank
  bool waits_ = true;
  // The interval that has begun, and sums over those that have ended.
  std::vector<double> work_s_;  // by rank
  double interval_s_ = 0, lost_s_ = 0, covered_s_ = 0;
  long begun_steps_ = 0;
};

}  // namespace trigram
