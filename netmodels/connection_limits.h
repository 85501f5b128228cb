#pragma once

#include <string>
#include <vector>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// A group of routes between workers that have the same bottleneck, and the throughput of a
/// connection on them when nothing else uses the network.
struct ConnectionLimit {
  bool inside = false;  // inside a node
  std::string by;       // the bottleneck, such as "links" or "TCP's window"
  double least_Bps = 0, most_Bps = 0;
  double least_latency_s = 0, most_latency_s = 0;  // one way
};

/// The throughput of connections for a traffic pattern on the routes of a network, with the reason:
/// one entry per bottleneck, those inside nodes first. With more than 2,048 nodes, only some nodes
/// are used as sources.
std::vector<ConnectionLimit> connection_limits(const Cluster& cluster, const Network& network,
                                               TrafficClass traffic);

}  // namespace trigram
