#pragma once

#include <string>
#include <vector>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// Routes between workers that have the same bottleneck: the ranges of the throughput and of the
/// latency of a connection on these routes if nothing else uses the network.
struct ConnectionLimit {
  bool inside = false;     // the routes are inside a node
  std::string bottleneck;  // such as "links" or "TCP's window"
  double least_Bps = 0, most_Bps = 0;
  double least_latency_s = 0, most_latency_s = 0;  // one way, in seconds
};

/// The limits of a traffic pattern's connections on the routes that `visit_routes` selects. There
/// is one entry per bottleneck; entries for routes inside nodes come first.
std::vector<ConnectionLimit> connection_limits(const Cluster& cluster, const Network& network,
                                               TrafficClass traffic);

}  // namespace trigram
