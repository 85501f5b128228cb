#pragma once

#include <functional>
#include <span>

#include "netmodels/network/network.h"

namespace trigram {

/// Calls `visit` with the route between the first workers of any two nodes. This route represents
/// all workers of the two nodes, because their routes are equivalent. If nodes have several
/// workers, the first call is for the route from rank 0 to rank 1, which represents routes inside
/// nodes. With more than 2,048 nodes, only some nodes are used as sources; the result is then true.
bool visit_routes(
    const Network& network,
    const std::function<void(int source, int destination, std::span<const LinkId> route)>& visit);

/// A network in numbers. Each direction of a link counts as a link. Links that are never the
/// bottleneck, such as those between a worker and the NIC of its node, do not count.
struct NetworkSummary {
  int workers = 0, nodes = 0, switches = 0, links = 0;
  double narrowest_Bps = 0, widest_Bps = 0;  // over the links; 0 if there are none
  Bisection bisection;
  int diameter = 0;              // number of links on the longest route
  double longest_latency_s = 0;  // end to end
  bool sampled = false;  // true if only routes from some nodes were used for the diameter and the
                         // longest latency
};

NetworkSummary summarize(const Network& network);

}  // namespace trigram
