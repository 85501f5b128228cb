#pragma once

#include <vector>

#include "experiments/show/svg.h"
#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// The places at which the vertices of a cluster's network are drawn, indexed by vertex. The unit
/// is the size of a node with one worker. All vertices inside a node have the place of the node.
std::vector<Point> place_vertices(const Cluster& cluster, const Network& network);

}  // namespace trigram
