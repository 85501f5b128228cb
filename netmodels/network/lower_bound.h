#pragma once

#include <cstdint>
#include <span>

#include "netmodels/network/network.h"

namespace trigram {

/// What one rank has sent to other ranks, by the links that it passed. Messages to itself do not
/// count.
struct Traffic {
  std::uint64_t bytes_intra = 0, bytes_inter = 0;
  std::uint64_t messages_intra = 0, messages_inter = 0;
};

/// Seconds that the traffic of all ranks (by rank) takes at the very least, whatever the algorithm,
/// the routes and the network model: every link that all messages of some ranks pass first (ports,
/// host bridges, NICs) must pass their bytes, and the last message has its latency after it; so
/// must the links out of a switch that one node has for itself, together. A simulated time below it
/// is an error. If no traffic leaves before `start_s`, what counts is the date of its end: links
/// that change have changed by then, and token buckets have filled.
double lower_bound(const Network& network, std::span<const Traffic> ranks, double start_s = 0);

}  // namespace trigram
