#pragma once

#include <optional>
#include <string>
#include <vector>

#include "netmodels/cluster.h"

namespace trigram {

/// Throws ConfigError unless both powers of the accelerator are given or none is, and computing
/// takes at least as much power as waiting.
void check_prices(const Cluster& cluster, const std::string& pointer);

/// The zone of each rank. The egress price applies to bytes from one zone to another. Zones are the
/// regions of a topology of kind "wan", and the nodes of any other topology.
std::vector<int> egress_zones(const Cluster& cluster);

/// The resources of its cluster that a job uses.
struct ClusterUse {
  double time_s = 0;
  double busy_share = 0;  // of the time of all accelerators: the share in which they compute
  double egress_bytes = 0;
};

/// The cost of a job.
struct Spending {
  std::optional<double> usd;  // empty if the cluster has no prices
  std::optional<double> kwh;  // energy of the accelerators; empty if their power is unknown
  double egress_usd = 0;      // the part of `usd` that is paid for traffic
};

/// The closed forms, with N nodes, R ranks, and time t in hours:
///
///   usd = N t price_per_node_hour + egress_bytes / 1e9 egress_price_per_GB
///   kwh = R t (idle_watts + busy_share (busy_watts - idle_watts)) / 1000
Spending spending(const Cluster& cluster, const ClusterUse& use);

}  // namespace trigram
