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

/// The earliest time, in seconds, at which all traffic of `ranks` (indexed by rank) can have ended
/// if none of it leaves before `start_s`. The bound holds for any algorithm, any routes and any
/// network model; a simulated time below it is an error. It is derived as follows. A link that all
/// messages of some ranks pass first (a port, a host bridge, a NIC) must carry all their bytes, and
/// the last message also takes its latency. The same holds for all links together that leave a
/// switch to which only one node is attached. `start_s` matters because links may have changed, and
/// token buckets filled, by then.
double lower_bound(const Network& network, std::span<const Traffic> ranks, double start_s = 0);

}  // namespace trigram
