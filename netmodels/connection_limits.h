#pragma once

#include <string>
#include <vector>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// A group of routes between workers that have the same bottleneck. It gives the throughput and the
/// latency of a connection on these routes if nothing else uses the network.
struct ConnectionLimit {
  bool inside = false;  // the routes are inside a node
  std::string by;       // the bottleneck, such as "links" or "TCP's window"
  double least_Bps = 0, most_Bps = 0;
  double least_latency_s = 0, most_latency_s = 0;  // one way, in seconds
};

/// The throughput of connections for a traffic pattern on the routes of a network, and the
/// bottlenecks. There is one entry per bottleneck; entries for routes inside nodes come first. With
/// more than 2,048 nodes, only some nodes are used as sources.
std::vector<ConnectionLimit> connection_limits(const Cluster& cluster, const Network& network,
                                               TrafficClass traffic);

}  // namespace trigram
