#pragma once

#include <cstdint>
#include <span>

#include "netmodels/cluster.h"

namespace trigram {

/// What one rank has sent to other ranks, by the links that it passed. Messages to itself do not
/// count.
struct Traffic {
  std::uint64_t bytes_intra = 0, bytes_inter = 0;
  std::uint64_t messages_intra = 0, messages_inter = 0;
};

/// Seconds that the traffic of all ranks (by rank) takes at the very least, whatever the algorithm
/// and the network model: the most loaded worker port or NIC must pass its bytes, and the last
/// message has its latency after it. A simulated time below it is an error.
double lower_bound(const Cluster& cluster, std::span<const Traffic> ranks);

}  // namespace trigram
