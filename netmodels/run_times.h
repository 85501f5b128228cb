#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/random/philox.h"
#include "core/workloads/loader.h"

namespace trigram {

/// A point of a distribution function: the fraction `share` of all draws is below `seconds`.
struct Quantile {
  double share = 0;
  double seconds = 0;
};

/// The variation of a step's computation time between workers and steps. Its causes are, for
/// example, sequences of uneven length, environments of uneven speed, and shared machines. Times
/// that are drawn from the distribution are divided by its mean and multiplied by the workload's
/// own time, which is therefore the mean time of a step.
struct RunTimes {
  enum class Shape { constant, lognormal, bounded, quantiles, sequences, published };
  Shape kind = Shape::constant;
  std::int64_t seed = 0;
  /// For the shape lognormal: standard deviation divided by mean.
  double variation = 0;
  /// For the shape bounded: times are `smallest_s` plus a lognormal time, cut off at `largest_s`.
  /// Mean and standard deviation are given for the distribution before the cut.
  double smallest_s = 0, largest_s = 0, mean_s = 0, deviation_s = 0;
  /// For the shape quantiles: points from share 0 to share 1, with linear interpolation.
  std::vector<Quantile> quantiles;
  /// For the shape sequences: a step takes as long as the longest of `batch` sequences. Their
  /// lengths (in tokens or frames) are drawn like the times of the shape bounded. The fraction
  /// `fixed_share` of the mean time does not depend on the lengths.
  double shortest = 0, longest = 0, mean = 0, deviation = 0, fixed_share = 0;
  std::int64_t batch = 1;
  /// For the shape published: a name in `published_run_times`.
  std::string name;
  /// balanced: see BalancedRunTimes, which has an epoch of `epoch_steps` steps and the noise
  /// `random_level`.
  LoaderOptions::Order order = LoaderOptions::Order::random;
  double random_level = 0;
  std::size_t epoch_steps = 1024;
};

/// Measured distributions, by name, with their sources.
struct PublishedRunTimes {
  std::string name, source;
  RunTimes times;
};
const std::vector<PublishedRunTimes>& published_run_times();

FieldTable<RunTimes> run_times_fields();
/// Parses the fields and checks relations between them.
RunTimes parse_run_times(const Json& j, const std::string& pointer);

/// Draws the factor on the computation time of a step; its mean is 1.
class RunTimeDraws {
 public:
  explicit RunTimeDraws(const RunTimes& times);
  double factor(int rank, long step) const;

 private:
  double draw(Philox random) const;
  RunTimes times_;
  double mean_ = 1;  // mean of `draw`
};

}  // namespace trigram
