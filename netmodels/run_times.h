#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/random/philox.h"

namespace trigram {

/// A point of a distribution function: so much of the mass lies below so many seconds.
struct Quantile {
  double share = 0;
  double seconds = 0;
};

/// How the time of a step's computation varies from worker to worker and from step to step, as
/// sequences of uneven length, environments of uneven speed and shared machines make it. What is
/// drawn is divided by the distribution's mean: a workload's own time is taken for the mean.
struct RunTimes {
  enum class Shape { constant, lognormal, bounded, quantiles, sequences, published };
  Shape kind = Shape::constant;
  std::int64_t seed = 0;
  /// lognormal: standard deviation over mean.
  double variation = 0;
  /// bounded: `smallest_s` plus a lognormal time, cut at `largest_s`, such that the mean and the
  /// standard deviation without the cut are these.
  double smallest_s = 0, largest_s = 0, mean_s = 0, deviation_s = 0;
  /// quantiles: from share 0 to share 1, linear in between.
  std::vector<Quantile> quantiles;
  /// sequences: a step takes as long as the longest of `batch` lengths, which are bounded as above
  /// (in tokens or frames), and a share of it does not depend on them.
  double shortest = 0, longest = 0, mean = 0, deviation = 0, fixed_share = 0;
  std::int64_t batch = 1;
  /// published: one of `published_run_times`.
  std::string name;
};

/// Measured distributions, by name, with their sources.
struct PublishedRunTimes {
  std::string name, source;
  RunTimes times;
};
const std::vector<PublishedRunTimes>& published_run_times();

FieldTable<RunTimes> run_times_fields();
/// The fields, and what they cannot check alone.
RunTimes parse_run_times(const Json& j, const std::string& pointer);

/// Draws factors on the time of a step's computation; their mean is 1.
class RunTimeDraws {
 public:
  explicit RunTimeDraws(const RunTimes& times);
  double factor(int rank, long step) const;

 private:
  double draw(Philox random) const;
  RunTimes times_;
  double mean_ = 1;  // of what is drawn
};

}  // namespace trigram
