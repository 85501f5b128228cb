#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/benchmark_case.h"

namespace trigram {

/// The sizes to measure, and how to measure each of them.
struct SizeRange {
  std::size_t min_bytes = 8, max_bytes = std::size_t{16} << 20;
  int factor = 4;  // ratio of successive sizes
  int iterations = 20, warm_up = 5;
  /// If not 0, each rank waits for this many bytes from the preceding rank before a measurement.
  /// The rank then begins inside a call of its communicator, as it would after another collective.
  std::size_t chain_bytes = 0;
  bool check = true;
  double quantile = 0.5;  // quantile of the iterations that is reported
  /// If this is positive, an iteration repeats the operation until this many seconds have passed,
  /// and reports the mean. Only for operations that do not involve other ranks.
  double batch_s = 0;
};

/// The numbers of f32 elements to measure, without duplicates: the sizes of the range, rounded down
/// to the same number of elements for each rank, but at least one element per rank.
std::vector<std::size_t> element_counts(const SizeRange& sizes, std::size_t ranks);

/// The seconds that `run` takes on this rank: the quantile of the iterations that `sizes` asks for.
/// An iteration ends when the stream has completed it.
double seconds_of(const Context& ctx, const SizeRange& sizes, const std::function<void()>& run);

/// The result for one operation and size.
struct Measurement {
  std::string operation, algorithm, redop;
  std::size_t bytes = 0, count = 0;  // size of one rank's operand, in bytes and in f32 elements
  double seconds = 0;                // quantile of the iterations, on the slowest rank
  double bus_factor = 1;
  /// Number of wrong elements on all ranks; empty if not checked.
  std::optional<std::size_t> wrong = {};
  double algorithm_Bps() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
  double bus_Bps() const { return algorithm_Bps() * bus_factor; }
};

/// Measures every entry at every size. Collective over all ranks. Rank 0 calls `report` with each
/// result. If `simulated`, all ranks begin each measurement at exactly the same time.
void measure(const Context& ctx, const std::vector<BenchEntry>& entries, const SizeRange& sizes,
             bool simulated, const std::function<void(const Measurement&)>& report);

/// The value below which the fraction `share` of the values lies. For 0.5 and an even number of
/// values, the upper median.
double quantile(std::vector<double> values, double share);

}  // namespace trigram
