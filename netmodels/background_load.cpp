#include "netmodels/background_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "netmodels/cluster_network.h"

namespace trigram {
namespace {

/// The check visits all pairs of NICs.
constexpr int kMostNics = 4096;
/// Each flow is at least one event. Above this number a simulated second takes minutes.
constexpr double kMostFlowsPerSecond = 1e6;  // per NIC

/// The least bandwidth of a link in the long run, in bytes per second.
double least_bandwidth(const Link& link, double least_factor) {
  return std::min(link.bandwidth_Bps * (link.varies ? least_factor : 1), link.credit_Bps);
}

/// The bandwidth that background traffic needs on each link, in bytes per second.
std::vector<double> asked_of(const Network& network, const Cluster& cluster) {
  const int step = cluster.nics == Nics::shared ? static_cast<int>(cluster.workers_per_node) : 1;
  const double nics = cluster.ranks() / step, per_node = nics / static_cast<double>(cluster.nodes);
  const double each_Bps = cluster.inter.background.load * cluster.transport.goodput *
                          cluster.inter.bandwidth_Bps / (nics - per_node);
  std::vector<double> asked(network.links().size());
  std::vector<LinkId> route;
  for (int from = 0; from < cluster.ranks(); from += step)
    for (int to = 0; to < cluster.ranks(); to += step) {
      if (cluster.node_of(from) == cluster.node_of(to)) continue;
      route.clear();
      network.route_of_others(from, to, route);
      for (const LinkId id : route) asked[static_cast<std::size_t>(id)] += each_Bps;
    }
  return asked;
}

void check_flows(const Cluster& cluster, const std::string& pointer) {
  const Background& background = cluster.inter.background;
  const double asked_Bps =
      background.load * cluster.transport.goodput * cluster.inter.bandwidth_Bps;
  const double flows_per_s = asked_Bps / background.flow_bytes;
  if (flows_per_s <= kMostFlowsPerSecond) return;
  throw ConfigError(pointer,
                    fmt::format("expected flows of at least {:.0f} B, not {:.6g} B: a NIC would "
                                "send {:.3g} flows per second, and {:.0g} is the limit",
                                std::ceil(asked_Bps / kMostFlowsPerSecond), background.flow_bytes,
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
  const std::vector<double> asked = asked_of(*network, cluster);
  double most = 0;  // fraction of a link's bandwidth
  LinkId where = 0;
  for (std::size_t id = 0; id < asked.size(); ++id) {
    const double share = asked[id] / least_bandwidth(network->links()[id], least_factor);
    if (share <= most) continue;
    most = share;
    where = static_cast<LinkId>(id);
  }
  if (most <= kMostBackground * (1 + 1e-9)) return;
  throw ConfigError(
      at_load, fmt::format("expected at most {}, not {}: background traffic would ask for {:.3g} "
                           "of the bandwidth of the link {}, and {} is the limit",
                           std::floor(100 * load * kMostBackground / most + 1e-9) / 100, load, most,
                           network->name(where), kMostBackground));
}

}  // namespace trigram
