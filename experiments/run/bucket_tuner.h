#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/json.h"
#include "experiments/config/autotune_options.h"
#include "experiments/tune/tuner.h"

namespace trigram {

/// Chooses the sizes of buckets during a run from the times of its steps: first the configured one,
/// then those that a Tuner proposes, each for the same number of steps, and at last, until the end
/// of the run, the one with the shortest steps.
class BucketTuner {
 public:
  /// Buckets of a size, from one step until before another.
  struct Interval {
    std::int64_t bytes = 0, first = 0, end = 0;
  };
  static constexpr std::int64_t kUntilTheEnd = INT64_MAX;  // the end of the last interval

  /// `configured` is the size with which the run begins. Of the sizes that are larger than the
  /// model, in bytes, only the least one is tried, because they all give one bucket.
  BucketTuner(const AutotuneOptions& options, std::size_t configured, std::size_t model_bytes,
              std::uint64_t seed);

  /// Call at the end of every step with its time since the start of the run, in seconds and without
  /// evaluations.
  void step_ended(double end_s);
  /// The interval that begins now. Call when all steps of the one before have ended.
  Interval next();

  /// The value of "autotune" in a summary:
  ///
  ///   tried           for each size, in the order of trials: `bucket`, in bytes; `first_step` and
  ///                   `steps`; and the mean time `step_s`, without that of the first step
  ///   bucket          the size that was chosen; null if the run ended before
  ///   from_step       the first step with this size after all trials, or null
  ///   step_s          the mean time of the steps from then on, without that of the first; or null
  ///   slower_s        by how much trials took longer than as many steps in the configured buckets,
  ///                   added up over the trials that did
  ///   paid_off_step   the first step from `from_step` on at whose end the run has taken no longer
  ///                   than it would have taken in the configured buckets, at the `step_s` of the
  ///                   first trial; null if there is none, or if the configured size was chosen
  Json to_json() const;

 private:
  struct Trial {
    Interval interval;
    double step_s = 0, began_s = 0, ended_s = 0;
  };
  double mean_s() const;
  double ahead_s() const;
  bool changed_size() const { return current_.bytes != trials_.front().interval.bytes; }

  AutotuneOptions options_;
  Tuner tuner_;
  std::vector<Trial> trials_;
  Interval current_;
  bool chosen_ = false;
  std::int64_t steps_ = 0;                               // ended so far
  double first_step_end_s_ = 0;                          // of the run
  double began_s_ = 0, second_began_s_ = 0, end_s_ = 0;  // of the current interval
  std::optional<std::int64_t> paid_off_step_;
};

}  // namespace trigram
