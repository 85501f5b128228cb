#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/config/fields.h"

namespace trigram {

/// A token bucket at each direction of a NIC. Bytes that pass consume credit, in bytes. Credit
/// accumulates at the rate `rate_Bps` up to `depth_bytes`. While there is credit, the NIC runs at
/// its full bandwidth.
struct Shaping {
  static constexpr double kFull = std::numeric_limits<double>::infinity();
  double rate_Bps = 0;           // bytes per second; 0: the NIC is not shaped
  double depth_bytes = 0;        // 0: the NIC is never faster than the rate
  double initial_bytes = kFull;  // credit at the start, at most the depth
  bool enabled() const { return rate_Bps > 0; }
};
FieldTable<Shaping> shaping_fields();

/// From `at_s` on, the described bandwidth and latency of links between nodes are multiplied by
/// these factors.
struct LinkChange {
  double at_s = 0;
  double bandwidth_factor = 1, latency_factor = 1;
};
FieldTable<LinkChange> link_change_fields();
/// Throws ConfigError if the changes are not in order of time.
void check_profile(const std::vector<LinkChange>& profile, const std::string& pointer);

/// Background traffic between nodes. Every NIC sends flows to other NICs, which are drawn
/// uniformly. Sizes and interarrival times are exponentially distributed, and flows do not wait for
/// earlier flows to end (Poisson arrivals). The mean offered load is the fraction `load` of a NIC's
/// bandwidth. A long message that shares a NIC with these flows gets the rest, 1 - load.
///
/// The mean number of flows in flight grows as 1 / (1 - load), and the time to reach that mean as
/// 1 / (1 - load)^2. Above kMostBackground a run would have to be very long to give a meaningful
/// mean.
constexpr double kMostBackground = 0.9;
struct Background {
  double load = 0;  // fraction of a NIC's bandwidth; 0: no background traffic
  double flow_bytes = 1e6;
  std::int64_t seed = 0;
};
FieldTable<Background> background_fields();

}  // namespace trigram
