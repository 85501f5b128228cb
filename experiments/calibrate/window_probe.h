#pragma once

#include <cstddef>

#include "core/context.h"
#include "experiments/bench/measure.h"

namespace trigram {

/// The rate of one connection, and of several connections together, for messages so long that
/// neither latency nor the opening of a window matters.
struct WindowProbe {
  double round_trip_s = 0;  // of a one-element message and its answer
  int connections = 0;      // used together, each to another rank; 0: not measured
  double one_Bps = 0;       // of a single connection
  double together_Bps = 0;  // of all connections together

  /// Shorter round trips come from software and from ranks that share cores; a window cannot be
  /// inferred from them.
  static constexpr double kLeastRoundTrip_s = 500e-6;
  /// If several connections together are at least this much faster than one, its window limits it.
  static constexpr double kFaster = 1.25;

  /// True if the round trip is long enough and there are several connections to compare.
  bool measurable() const { return connections > 1; }
  /// True if a single connection is slower than the link, because its window limits it.
  bool binds() const { return measurable() && together_Bps >= kFaster * one_Bps; }
  /// The bytes that a single connection has in flight. Equals its window if the window binds;
  /// otherwise the window is at least this.
  double under_way_bytes() const { return one_Bps * round_trip_s; }
};

/// Rank 0 sends messages of growing length to the last rank until they take many round trips, and
/// then to several of the last ranks at the same time. Collective; only rank 0 gets the result.
/// Throws std::runtime_error if times do not grow with the length.
WindowProbe probe_window(const Context& ctx, const SizeRange& ladder);

}  // namespace trigram
