#pragma once

#include <cstddef>

#include "core/context.h"
#include "experiments/bench/measure.h"

namespace trigram {

/// What one connection moves, and what several move together. Sizes are those of long messages, so
/// that neither latency nor the opening of a window counts.
struct WindowProbe {
  double round_trip_s = 0;  // a message of an element, and its answer
  int connections = 0;      // that sent together, to as many ranks; 0 where nothing was sent
  double one_Bps = 0;       // of a connection alone
  double together_Bps = 0;  // of all of them

  /// Round trips below this are those of software and of ranks that share cores: no window is told
  /// from them.
  static constexpr double kLeastRoundTrip_s = 500e-6;
  /// By how much several connections together are faster than one where that one is held back.
  static constexpr double kFaster = 1.25;

  /// The round trip is long enough, and there are several connections to compare with.
  bool measurable() const { return connections > 1; }
  /// One connection alone moves less than the link: its window holds it back.
  bool binds() const { return measurable() && together_Bps >= kFaster * one_Bps; }
  /// The bytes that one connection has under way: its window where that binds, which otherwise is
  /// this at least.
  double under_way_bytes() const { return one_Bps * round_trip_s; }
};

/// Sends messages of growing length from rank 0 to the last rank, until they take many round trips;
/// then to the last ranks at the same time. Every rank calls it; the result is that of rank 0.
/// Throws std::runtime_error where times do not grow with the length.
WindowProbe probe_window(const Context& ctx, const SizeRange& ladder);

}  // namespace trigram
