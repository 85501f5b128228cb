#include "netmodels/background_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "netmodels/cluster_network.h"

namespace trigram {
namespace {

/// Limits the time of the check, which visits all pairs of NICs.
constexpr int kMostNics = 4096;
/// Flows per second of one NIC. Each flow is at least one event of the simulator, so a limit is
/// needed for a simulated second to take a reasonable time.
constexpr double kMostFlowsPerSecond = 1e6;

/// The bandwidth of a link in the long run, in bytes per second: its lowest bandwidth or the refill
/// rate of its token bucket, whichever is smaller.
double least_bandwidth(const Link& link, double least_factor) {
  return std::min(link.bandwidth_Bps * (link.varies ? least_factor : 1), link.refill_Bps);
}

/// The bandwidth that background traffic needs on each link, in bytes per second.
std::vector<double> background_demand_Bps(const Network& network, const Cluster& cluster) {
  const int stride = cluster.nics == Nics::shared ? static_cast<int>(cluster.workers_per_node) : 1;
  const double nics = cluster.ranks() / stride,
               per_node = nics / static_cast<double>(cluster.nodes);
  // Each NIC sends `load` times its bandwidth for payload, spread evenly over the NICs of all other
  // nodes.
  const double pair_Bps = cluster.inter.background.load * cluster.transport.goodput *
                          cluster.inter.bandwidth_Bps / (nics - per_node);
  std::vector<double> demand_Bps(network.links().size());
  std::vector<LinkId> route;
  for (int from = 0; from < cluster.ranks(); from += stride)
    for (int to = 0; to < cluster.ranks(); to += stride) {
      if (cluster.node_of(from) == cluster.node_of(to)) continue;
      route.clear();
      network.background_route(from, to, route);
      for (const LinkId id : route) demand_Bps[static_cast<std::size_t>(id)] += pair_Bps;
    }
  return demand_Bps;
}

void check_flows(const Cluster& cluster, const std::string& pointer) {
  const Background& background = cluster.inter.background;
  const double nic_Bps = background.load * cluster.transport.goodput * cluster.inter.bandwidth_Bps;
  const double flows_per_s = nic_Bps / background.flow_bytes;
  if (flows_per_s <= kMostFlowsPerSecond) return;
  throw ConfigError(pointer,
                    fmt::format("expected flows of at least {:.0f} B, not {:.6g} B: a NIC would "
                                "send {:.3g} flows per second, and {:.0g} is the limit",
                                std::ceil(nic_Bps / kMostFlowsPerSecond), background.flow_bytes,
                                flows_per_s, kMostFlowsPerSecond));
}

}  // namespace

void check_background(const Cluster& cluster, const std::string& pointer) {
  const double load = cluster.inter.background.load;
  if (load == 0 || cluster.nodes == 1) return;
  check_flows(cluster, child(pointer, "flow"));
  const std::string at_load = child(pointer, "load");
  const auto nics = cluster.nics == Nics::shared ? cluster.nodes : cluster.ranks();
  if (nics > kMostNics)
    throw ConfigError(
        at_load,
        fmt::format("expected at most {} NICs with background traffic, not {}", kMostNics, nics));
  const auto network = make_network(cluster);
  double least_factor = 1;
  for (const LinkChange& change : network->profile())
    least_factor = std::min(least_factor, change.bandwidth_factor);
  const std::vector<double> demand_Bps = background_demand_Bps(*network, cluster);
  double largest_share = 0;
  LinkId most_loaded = 0;
  for (std::size_t id = 0; id < demand_Bps.size(); ++id) {
    const double share = demand_Bps[id] / least_bandwidth(network->links()[id], least_factor);
    if (share <= largest_share) continue;
    largest_share = share;
    most_loaded = static_cast<LinkId>(id);
  }
  if (largest_share <= kMostBackground * (1 + 1e-9)) return;
  throw ConfigError(
      at_load, fmt::format("expected at most {}, not {}: background traffic would need {:.3g} "
                           "times the long-run bandwidth of the link {}, and the limit is {} times",
                           std::floor(100 * load * kMostBackground / largest_share + 1e-9) / 100,
                           load, largest_share, network->name(most_loaded), kMostBackground));
}

}  // namespace trigram
