#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/config/fields.h"

namespace trigram {

/// A token bucket at each direction of a NIC: what passes is paid with credit, which comes in at
/// `rate` up to `depth`. While there is any, the NIC moves what it can.
struct Shaping {
  static constexpr double kFull = std::numeric_limits<double>::infinity();
  double rate_Bps = 0;           // 0: the NIC is not shaped
  double depth_bytes = 0;        // 0: never more than the rate
  double initial_bytes = kFull;  // credit at the start; more than the depth is full
  bool exists() const { return rate_Bps > 0; }
};
FieldTable<Shaping> shaping_fields();

/// What links between nodes are from a date on, relative to their description.
struct LinkChange {
  double at_s = 0;
  double bandwidth_factor = 1, latency_factor = 1;
};
FieldTable<LinkChange> link_change_fields();
/// Refuses changes that are not in order of time.
void check_profile(const std::vector<LinkChange>& profile, const std::string& pointer);

/// Traffic of others between nodes. Every NIC sends flows to others drawn evenly, which start when
/// they are due, however many are under way (Poisson arrivals): their sizes, and the times between
/// their starts, are drawn from exponential distributions, such that the mean of what is to be sent
/// is `load` of a NIC. A long message that shares a NIC with them gets what they leave, 1 - load.
///
/// Queues of flows grow as 1 / (1 - load), and the time in which they come to their mean as its
/// square: beyond kMostBackground a run would have to be very long to say anything.
constexpr double kMostBackground = 0.9;
struct Background {
  double load = 0;  // 0: none
  double flow_bytes = 1e6;
  std::int64_t seed = 0;
};
FieldTable<Background> background_fields();

}  // namespace trigram
