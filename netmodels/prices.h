#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/metering/egress_tariff.h"
#include "netmodels/cluster.h"

namespace trigram {

/// Throws ConfigError unless both powers of the accelerator are given or none is, computing takes
/// at least as much power as waiting, and the price of each connection is given at most once.
void check_prices(const Cluster& cluster, const std::string& pointer);

/// The zone of each rank and the prices of traffic between zones. Zones are the regions of a
/// topology of kind "wan", which may have a price for any two regions, and the nodes of any other
/// topology.
EgressTariff egress_tariff(const Cluster& cluster);

/// True if time or traffic has a price.
bool has_prices(const Cluster& cluster);

/// The lowest and the highest price of traffic between zones, in US dollars per 1e9 bytes.
std::pair<double, double> egress_price_range(const Cluster& cluster);

/// The resources of its cluster that a job uses.
struct ClusterUse {
  double time_s = 0;
  double busy_share = 0;  // of the time of all accelerators: the share in which they compute
  double egress_usd = 0;  // what its traffic costs (EgressTariff)
};

/// The cost of a job.
struct Spending {
  std::optional<double> usd;  // empty if the cluster has no prices
  std::optional<double> kwh;  // energy of the accelerators; empty if their power is unknown
};

/// The closed forms, with N nodes, R ranks, and time t in hours:
///
///   usd = N t price_per_node_hour + sum of egress bytes / 1e9 x their price per GB
///   kwh = R t (idle_watts + busy_share (busy_watts - idle_watts)) / 1000
Spending spending(const Cluster& cluster, const ClusterUse& use);

}  // namespace trigram
