#include "netmodels/prices.h"

#include <algorithm>
#include <vector>

namespace trigram {
namespace {

constexpr double kSecondsPerHour = 3600, kBytesPerGB = 1e9, kWattsPerKilowatt = 1000;

/// The number of the zone of each rank, in the order in which the zones are described.
std::vector<int> zones_by_rank(const Cluster& cluster) {
  std::vector<int> by_rank;
  if (cluster.whole) {
    const std::vector<int> of_whole = zones_by_rank(*cluster.whole);
    for (int rank = 0; rank < cluster.ranks(); ++rank)
      by_rank.push_back(of_whole.at(static_cast<std::size_t>(cluster.whole_rank(rank))));
    return by_rank;
  }
  std::vector<int> zones;  // by node
  if (cluster.topology.kind == "wan") {
    int region = 0;
    for (const Json& entry : cluster.topology.options.at("regions"))
      zones.insert(zones.end(), entry.at("nodes").get<std::size_t>(), region++);
  } else {
    for (int node = 0; node < static_cast<int>(cluster.nodes); ++node) zones.push_back(node);
  }
  for (int rank = 0; rank < cluster.ranks(); ++rank)
    by_rank.push_back(zones.at(static_cast<std::size_t>(cluster.node_of(rank))));
  return by_rank;
}

/// The prices between regions in US dollars per 1e9 bytes, by the regions of sender and receiver.
/// Empty if the price of `inter` applies to all.
std::vector<std::vector<double>> prices_between_regions(const Cluster& cluster) {
  if (cluster.whole) return prices_between_regions(*cluster.whole);
  const Json given = cluster.topology.options.value("egress_price_per_GB", Json::array());
  std::vector<std::vector<double>> prices;
  for (const Json& row : given) {
    prices.emplace_back();
    for (const Json& price : row)
      prices.back().push_back(price.is_null() ? cluster.inter.egress_price_per_GB
                                              : price.get<double>());
  }
  return prices;
}

/// Throws ConfigError if all regions have prices of their own beside the price of `inter`.
void check_used(const Cluster& cluster, const std::string& pointer) {
  const Json prices = cluster.topology.options.value("egress_price_per_GB", Json::array());
  if (cluster.inter.egress_price_per_GB == 0 || prices.size() < 2) return;
  for (std::size_t i = 0; i < prices.size(); ++i)
    for (std::size_t j = 0; j < prices.size(); ++j)
      if (i != j && prices[i][j].is_null()) return;
  throw ConfigError(child(child(pointer, "inter"), "egress_price_per_GB"),
                    "has no effect: topology.egress_price_per_GB has a price for any two regions; "
                    "remove this price, or write null for pairs that have it");
}

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
  check_used(cluster, pointer);
}

EgressTariff egress_tariff(const Cluster& cluster) {
  EgressTariff tariff{.zones = zones_by_rank(cluster),
                      .between = prices_between_regions(cluster),
                      .usd_per_byte = cluster.inter.egress_price_per_GB / kBytesPerGB};
  for (std::vector<double>& row : tariff.between)
    for (double& price : row) price /= kBytesPerGB;
  return tariff;
}

std::pair<double, double> egress_price_range(const Cluster& cluster) {
  const auto prices = prices_between_regions(cluster);
  const double of_inter = cluster.inter.egress_price_per_GB;
  if (prices.size() < 2) return {of_inter, of_inter};
  std::pair range{prices[0][1], prices[0][1]};
  for (std::size_t i = 0; i < prices.size(); ++i)
    for (std::size_t j = 0; j < prices.size(); ++j)
      if (i != j)
        range = {std::min(range.first, prices[i][j]), std::max(range.second, prices[i][j])};
  return range;
}

bool has_prices(const Cluster& cluster) {
  return cluster.price_per_node_hour > 0 || egress_price_range(cluster).second > 0;
}

Spending spending(const Cluster& cluster, const ClusterUse& use) {
  Spending spent;
  const double hours = use.time_s / kSecondsPerHour;
  if (has_prices(cluster))
    spent.usd =
        static_cast<double>(cluster.nodes) * hours * cluster.price_per_node_hour + use.egress_usd;
  const Accelerator& a = cluster.accelerator;
  if (a.has_power())
    spent.kwh = cluster.ranks() * hours *
                (a.idle_watts + use.busy_share * (a.busy_watts - a.idle_watts)) / kWattsPerKilowatt;
  return spent;
}

}  // namespace trigram
