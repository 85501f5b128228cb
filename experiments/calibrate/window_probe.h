#pragma once

#include <cstddef>

#include "core/context.h"
#include "experiments/bench/measure.h"

namespace trigram {

/// The rate of one connection, and of several connections together, with messages so long that
/// neither latency nor the opening of a window matters.
struct WindowProbe {
  double round_trip_s = 0;  // round trip of a one-element message and its answer
  /// Number of connections used together, each to another rank; 0: not measured.
  int connections = 0;
  double one_Bps = 0;       // of a single connection
  double together_Bps = 0;  // of all connections together

  /// The shortest round trip from which a window can be inferred. Shorter round trips are due to
  /// software, and to ranks that share cores.
  static constexpr double kLeastRoundTrip_s = 500e-6;
  /// If several connections together are faster than one connection by at least this factor, the
  /// window limits a single connection.
  static constexpr double kFaster = 1.25;

  /// True if the round trip is long enough and there are several connections to compare.
  bool measurable() const { return connections > 1; }
  /// True if a single connection is slower than the link, because its window limits it.
  bool binds() const { return measurable() && together_Bps >= kFaster * one_Bps; }
  /// The bytes that a single connection has in flight. This is its window if the window limits it;
  /// otherwise the window is at least as large.
  double in_flight_bytes() const { return one_Bps * round_trip_s; }
};

/// Rank 0 sends longer and longer messages to the last rank until a message takes many round trips.
/// Then it measures messages of that length to the last rank alone, and to several of the last
/// ranks at the same time. Collective; only rank 0 gets the result. Throws std::runtime_error if
/// times do not grow with the length.
WindowProbe probe_window(const Context& ctx, const SizeRange& sizes);

}  // namespace trigram
