#pragma once

#include <cstddef>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Tells whether the steps of a run become longer or shorter in its course. Simulated workers begin
/// in lock step. If they wait only for some of the others, small differences between them add up
/// over hundreds of steps until messages no longer avoid each other, so the mean step time of a
/// short run may be far below that of a long one.
class PaceTrend {
 public:
  /// Adds the mean step time of the next cycle of the algorithm, in seconds.
  void add(double step_s);
  /// The mean step times of the two halves of the run, as {"first_half_step_s",
  /// "second_half_step_s"}, if they differ by more than kLeastChange and the cycles of one half are
  /// nearly all longer than those of the other (a Mann-Whitney statistic of at least
  /// kLeastSeparation standard deviations, which chance exceeds in one of a hundred runs).
  /// Otherwise null, as it is for fewer than kLeastBlocks cycles.
  Json to_json() const;

  static constexpr double kLeastChange = 0.05;
  static constexpr double kLeastSeparation = 2.6;
  static constexpr std::size_t kLeastBlocks = 10;

 private:
  static constexpr std::size_t kMostBlocks = 32;
  std::vector<double> blocks_;  // means over `length_` cycles each
  long length_ = 1;             // number of cycles per block
  double sum_ = 0;              // over the cycles of the block that is not complete
  long count_ = 0;
};

}  // namespace trigram
