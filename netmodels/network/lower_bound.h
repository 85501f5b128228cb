#pragma once

#include <cstdint>
#include <span>

#include "netmodels/network/network.h"

namespace trigram {

/// The traffic that one rank has sent to other ranks, inside its node and between nodes. Messages
/// to itself do not count.
struct Traffic {
  std::uint64_t bytes_intra = 0, bytes_inter = 0;
  std::uint64_t messages_intra = 0, messages_inter = 0;
};

/// The earliest date, in seconds, at which the traffic of all ranks (by rank) can end, if none of
/// it leaves before `start_s`, whatever the algorithm, the routes and the network model. Every link
/// that all messages of some ranks pass first (ports, host bridges, NICs) must carry their bytes,
/// and the last message then has its latency. The same holds for all links out of a switch that
/// only one node is attached to, taken together. A simulated time below this bound is an error.
/// `start_s` matters because links may have changed and token buckets filled by then.
double lower_bound(const Network& network, std::span<const Traffic> ranks, double start_s = 0);

}  // namespace trigram
