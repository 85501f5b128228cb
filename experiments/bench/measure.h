#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/benchmark_case.h"

namespace trigram {

struct SizeRange {
  std::size_t min_bytes = 8, max_bytes = std::size_t{16} << 20;
  int factor = 4;  // ratio of successive sizes
  int iterations = 20, warm_up = 5;
  /// Before it begins, each rank waits for this many bytes from the preceding rank; 0: no wait.
  /// Until then the rank is inside a call of its communicator, as it would be after another
  /// collective.
  std::size_t chain_bytes = 0;
  bool check = true;
  double quantile = 0.5;  // quantile of the iterations that is reported
  /// If this is positive, an iteration repeats runs until this many seconds have passed, and
  /// reports their mean. Only for operations that do not involve other ranks.
  double batch_s = 0;
};

/// The numbers of f32 elements to measure, without duplicates. They are the sizes of the ladder,
/// rounded down to whole elements for each rank, but at least one element per rank.
std::vector<std::size_t> counts(const SizeRange& ladder, std::size_t ranks);

/// Seconds of a run on this rank: the ladder's quantile over its iterations. A run ends when the
/// stream has completed it.
double seconds_of(const Context& ctx, const SizeRange& ladder, const std::function<void()>& run);

/// The result for one operation and size.
struct Measured {
  std::string operation, algorithm, redop;
  std::size_t bytes = 0, count = 0;  // size of one rank's operand, in bytes and in f32 elements
  double seconds = 0;                // quantile of the iterations, on the slowest rank
  double bus_factor = 1;
  /// Number of wrong elements on all ranks; empty if not checked.
  std::optional<std::size_t> wrong = {};
  double algorithm_Bps() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
  double bus_Bps() const { return algorithm_Bps() * bus_factor; }
};

/// Measures every entry at every size of the ladder. Collective over all ranks. Rank 0 calls `row`
/// with each result. If `simulated`, all ranks begin each measurement at exactly the same time.
void measure(const Context& ctx, const std::vector<BenchEntry>& entries, const SizeRange& ladder,
             bool simulated, const std::function<void(const Measured&)>& row);

/// The value below which the fraction `share` of the values lies. For 0.5 and an even number of
/// values, the upper median.
double quantile(std::vector<double> values, double share);

}  // namespace trigram
