#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/benchmark_case.h"

namespace trigram {

struct SizeRange {
  std::size_t min_bytes = 8, max_bytes = std::size_t{16} << 20;
  int factor = 4;  // from one size to the next
  int iterations = 20, warm_up = 5;
  /// Bytes that each rank waits for from the one before it, before it begins; 0: for nothing. Then
  /// a rank is in a call of its communicator until it begins, as after another collective.
  std::size_t chain_bytes = 0;
  bool check = true;
  double quantile = 0.5;  // of the iterations: which one counts
  /// Each iteration is as many runs as begin within so many seconds, and their mean. Only for what
  /// ranks do apart from each other.
  double batch_s = 0;
};

/// The sizes that are measured, in f32: those of the ladder, rounded down to whole elements for
/// each rank, but at least one for each; none twice.
std::vector<std::size_t> counts(const SizeRange& ladder, std::size_t ranks);

/// Seconds that a run takes on this rank: of the ladder's iterations, each until the stream has
/// come to its end, the quantile.
double seconds_of(const Context& ctx, const SizeRange& ladder, const std::function<void()>& run);

/// What came out for one operation and size.
struct Measured {
  std::string operation, algorithm, redop;
  std::size_t bytes = 0, count = 0;  // f32, of one rank's operand
  double seconds = 0;                // the quantile of the iterations, of the slowest rank
  double bus_factor = 1;
  std::optional<std::size_t> wrong = {};  // elements on all ranks; nothing when not checked
  double algorithm_Bps() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
  double bus_Bps() const { return algorithm_Bps() * bus_factor; }
};

/// Measures every entry at every size of the ladder, on all ranks together; `row` hears of it on
/// rank 0. With `simulated`, ranks begin every measurement at the same moment.
void measure(const Context& ctx, const std::vector<BenchEntry>& entries, const SizeRange& ladder,
             bool simulated, const std::function<void(const Measured&)>& row);

/// The value below which that share of the others lies; of an even number the upper median.
double quantile(std::vector<double> values, double share);

}  // namespace trigram
