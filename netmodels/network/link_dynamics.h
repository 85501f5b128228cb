#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/config/fields.h"

namespace trigram {

/// A token bucket at each direction of a NIC. Bytes that pass consume credit, which accumulates at
/// `rate` up to `depth`. While there is credit, the NIC runs at its full bandwidth.
struct Shaping {
  static constexpr double kFull = std::numeric_limits<double>::infinity();
  double rate_Bps = 0;           // 0: the NIC is not shaped
  double depth_bytes = 0;        // 0: never faster than the rate
  double initial_bytes = kFull;  // credit at the start, at most the depth
  bool exists() const { return rate_Bps > 0; }
};
FieldTable<Shaping> shaping_fields();

/// Factors on the described bandwidth and latency of links between nodes, from a date on.
struct LinkChange {
  double at_s = 0;
  double bandwidth_factor = 1, latency_factor = 1;
};
FieldTable<LinkChange> link_change_fields();
/// Throws ConfigError if the changes are not in order of time.
void check_profile(const std::vector<LinkChange>& profile, const std::string& pointer);

/// Background traffic between nodes. Every NIC sends flows to uniformly drawn other NICs. They
/// start when they are due, however many are in flight (Poisson arrivals): sizes and interarrival
/// times are exponentially distributed, such that the mean offered load is `load` of a NIC. A long
/// message that shares a NIC with them gets the rest, 1 - load.
///
/// Queues of flows grow as 1 / (1 - load), and the time to reach their mean grows as its square:
/// above kMostBackground a run would have to be very long to be conclusive.
constexpr double kMostBackground = 0.9;
struct Background {
  double load = 0;  // 0: none
  double flow_bytes = 1e6;
  std::int64_t seed = 0;
};
FieldTable<Background> background_fields();

}  // namespace trigram
