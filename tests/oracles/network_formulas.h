#pragma once

#include <vector>

// The duration in seconds, without latency, of an all-to-all, in which every node sends `bytes`
// bytes to every other node, all at once. It is the load of the most loaded link divided by the
// link's bandwidth. This is exact, because flows of equal size that share links max-min fairly keep
// the most loaded link busy from start to end. The loads were counted by hand from the routing
// rules of the literature (named in network_formulas.cpp), not from the code under test.

namespace trigram::test {

/// The bandwidths of a network: of a node's NIC, and of the links between switches.
struct NetworkRates {
  double nic_Bps = 0, link_Bps = 0;
};

/// Three levels of k-port switches, with D-mod-k routing.
double fat_tree_all_to_all_s(int k, double bytes, const NetworkRates& rates);
/// Two levels: leaves of `per_leaf` nodes, `taper` links down for each link up, with D-mod-k
/// routing.
double leaves_all_to_all_s(int nodes, int per_leaf, int taper, double bytes,
                           const NetworkRates& rates);
/// Dimension-order routing. A message that goes half way around a ring goes up from an even
/// position and down from an odd position.
double torus_all_to_all_s(const std::vector<int>& dimensions, double bytes,
                          const NetworkRates& rates);
/// p nodes per router, a routers per group, h links per router to other groups, a h + 1 groups,
/// with minimal routing. Links between groups have `global_Bps`.
double dragonfly_all_to_all_s(int p, int a, int h, double bytes, const NetworkRates& rates,
                              double global_Bps);

/// The time of the messages that cross the bisection: in each direction, those of a quarter of all
/// ordered pairs of nodes.
double bisection_all_to_all_s(int nodes, double bytes, double bisection_Bps);

}  // namespace trigram::test
