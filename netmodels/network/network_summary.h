#pragma once

#include "netmodels/network/network.h"

namespace trigram {

/// A network in numbers. Links are counted in each direction; those that are never what limits a
/// message, as between a worker and the NIC of its node, do not count.
struct NetworkSummary {
  int workers = 0, nodes = 0, switches = 0, links = 0;
  double narrowest_Bps = 0, widest_Bps = 0;  // of the links; 0 when there are none
  Bisection bisection;
  int diameter = 0;              // links of the longest route
  double longest_latency_s = 0;  // from end to end
  bool sampled = false;          // the last two are of routes from some of the nodes
};

NetworkSummary summarize(const Network& network);

}  // namespace trigram
