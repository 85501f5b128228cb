#pragma once

#include <cstdint>
#include <span>

#include "netmodels/network/network.h"

namespace trigram {

/// Totals of the traffic that one rank has sent to other ranks, inside its node and between nodes.
/// Messages to itself do not count.
struct Traffic {
  std::uint64_t bytes_intra = 0, bytes_inter = 0;
  std::uint64_t messages_intra = 0, messages_inter = 0;
};

/// The earliest time, in seconds, at which all traffic in `sent`, one entry per rank, can have
/// ended if none of it leaves before `start_s`. The bound holds for any algorithm, any routes and
/// any network model; a simulated time below it is an error.
///
/// The bound follows from the first links of routes: ports, host bridges and NICs. Such a link must
/// carry all bytes of the ranks that use it, and the last message also needs the latency of the
/// route up to that link. If only one node is attached to a switch, the same holds for all links
/// that leave the switch, taken together. `start_s` matters because, until then, links may change
/// and token buckets fill.
double lower_bound(const Network& network, std::span<const Traffic> sent, double start_s = 0);

}  // namespace trigram
