#pragma once

#include <vector>

#include "experiments/show/svg.h"
#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// Where the vertices of a cluster's network are drawn, by vertex; 1 is the room that a node of one
/// worker takes. All vertices inside a node have the place of the node.
std::vector<Point> place_vertices(const Cluster& cluster, const Network& network);

}  // namespace trigram
