#pragma once

#include <string>
#include <vector>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// Routes between workers that one thing limits: what a connection on them moves at most when
/// nothing else uses the network.
struct ConnectionLimit {
  bool inside = false;  // inside a node
  std::string by;       // what limits them, such as "links" or "TCP's window"
  double least_Bps = 0, most_Bps = 0;
  double least_latency_s = 0, most_latency_s = 0;  // one way
};

/// What connections of a pattern of traffic move on the routes of a network, and why: one entry for
/// each thing that limits any of them, those inside nodes first. Of more than 2,048 nodes, some
/// send.
std::vector<ConnectionLimit> connection_limits(const Cluster& cluster, const Network& network,
                                               TrafficClass traffic);

}  // namespace trigram
