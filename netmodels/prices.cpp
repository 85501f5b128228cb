#include "netmodels/prices.h"

namespace trigram {
namespace {

constexpr double kSecondsPerHour = 3600, kBytesPerGB = 1e9, kWattsPerKilowatt = 1000;

}  // namespace

void check_prices(const Cluster& cluster, const std::string& pointer) {
  const Accelerator& a = cluster.accelerator;
  const std::string at = child(pointer, "accelerator");
  if ((a.idle_watts >= 0) != (a.busy_watts >= 0))
    throw ConfigError(
        child(at, a.idle_watts >= 0 ? "idle_watts" : "busy_watts"),
        "has no effect alone; expected both idle_watts and busy_watts, or none of them");
  if (a.busy_watts < a.idle_watts)
    throw ConfigError(child(at, "busy_watts"), "expected at least idle_watts");
}

std::vector<int> egress_zones(const Cluster& cluster) {
  if (cluster.whole) {
    const std::vector<int> of_whole = egress_zones(*cluster.whole);
    std::vector<int> by_rank;
    for (int rank = 0; rank < cluster.ranks(); ++rank)
      by_rank.push_back(of_whole.at(static_cast<std::size_t>(cluster.whole_rank(rank))));
    return by_rank;
  }
  std::vector<int> zones;  // by node, then by rank
  if (cluster.topology.kind == "wan") {
    int region = 0;
    for (const Json& entry : cluster.topology.options.at("regions"))
      zones.insert(zones.end(), entry.at("nodes").get<std::size_t>(), region++);
  } else {
    for (int node = 0; node < static_cast<int>(cluster.nodes); ++node) zones.push_back(node);
  }
  std::vector<int> by_rank;
  for (int rank = 0; rank < cluster.ranks(); ++rank)
    by_rank.push_back(zones.at(static_cast<std::size_t>(cluster.node_of(rank))));
  return by_rank;
}

Spending spending(const Cluster& cluster, const ClusterUse& use) {
  Spending spent;
  const double hours = use.time_s / kSecondsPerHour;
  spent.egress_usd = use.egress_bytes / kBytesPerGB * cluster.inter.egress_price_per_GB;
  if (cluster.price_per_node_hour > 0 || cluster.inter.egress_price_per_GB > 0)
    spent.usd =
        static_cast<double>(cluster.nodes) * hours * cluster.price_per_node_hour + spent.egress_usd;
  const Accelerator& a = cluster.accelerator;
  if (a.has_power())
    spent.kwh = cluster.ranks() * hours *
                (a.idle_watts + use.busy_share * (a.busy_watts - a.idle_watts)) / kWattsPerKilowatt;
  return spent;
}

}  // namespace trigram
