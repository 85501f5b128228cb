#pragma once

#include <memory>
#include <vector>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// Some nodes of a cluster as a cluster of their own. It keeps the properties that the nodes have
/// in `whole`: their NICs, links, routes, slow workers and delays.
Cluster part_of(const std::shared_ptr<const Cluster>& whole, const std::vector<int>& nodes);

/// The network of a part: the routes between its nodes on the vertices and links of the whole
/// cluster, with the bisection of the whole cluster.
std::unique_ptr<const Network> network_of_part(const Cluster& part);

}  // namespace trigram
