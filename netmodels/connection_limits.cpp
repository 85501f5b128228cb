#include "netmodels/connection_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "netmodels/network/network_summary.h"
#include "netmodels/variation.h"

namespace trigram {
namespace {

struct Limit {
  double Bps;
  std::string bottleneck;
};

/// The narrowest link of a route. A link with a token bucket counts with its long-run bandwidth.
Limit narrowest_of(const Network& network, std::span<const LinkId> route) {
  Limit narrowest{std::numeric_limits<double>::infinity(), "links"};
  for (const LinkId id : route) {
    const Link& link = network.link(id);
    const double Bps = std::min(link.bandwidth_Bps, link.refill_Bps);
    if (Bps < narrowest.Bps) narrowest = {Bps, link.shaped() ? "a token bucket" : "links"};
  }
  return narrowest;
}

/// The lowest limit of a connection. The network gives its value. The bottleneck is the lowest of
/// the limits considered here, and the last of them if several are equal.
Limit limit_of(const Cluster& cluster, const Network& network, int source, int destination,
               std::span<const LinkId> route, TrafficClass traffic) {
  const auto per_node = static_cast<int>(cluster.workers_per_node);
  const Transport& t = cluster.transport;
  Limit lowest = narrowest_of(network, route);
  if (cluster.node_of(source) == cluster.node_of(destination)) return lowest;
  const double network_Bps =
      std::min(lowest.Bps, network.connection_cap(source, destination, traffic));
  const auto consider = [&](double Bps, const char* bottleneck) {
    if (Bps <= lowest.Bps) lowest = {Bps, bottleneck};
  };
  consider(t.node_cap_Bps * std::min(node_throughput_factor(t.variation, source / per_node),
                                     node_throughput_factor(t.variation, destination / per_node)),
           "the software of nodes");
  consider(t.connection_cap_Bps *
               connection_throughput_factor(
                   t.variation, {network.nodes(), source / per_node, destination / per_node,
                                 source % per_node, destination % per_node}),
           "the connection's cap");
  const auto streams = static_cast<double>(t.total_streams(traffic));
  consider(streams * t.stream_cap_Bps, "the streams' cap");
  const double round_trip_s = 2 * network.latency(route);
  if (round_trip_s > 0) {
    consider(streams * t.tcp.window_bytes / round_trip_s, "TCP's window");
    if (t.loss > 0)
      consider(streams * t.segment_bytes * t.loss_constant / std::sqrt(t.loss) / round_trip_s,
               "losses");
  }
  return {t.efficiency.share(traffic) * network_Bps, lowest.bottleneck};
}

void add(std::vector<ConnectionLimit>& found, bool inside, const Limit& limit, double latency_s) {
  auto same = std::find_if(found.begin(), found.end(), [&](const ConnectionLimit& c) {
    return c.inside == inside && c.bottleneck == limit.bottleneck;
  });
  if (same == found.end()) {
    found.push_back({inside, limit.bottleneck, limit.Bps, limit.Bps, latency_s, latency_s});
    return;
  }
  same->least_Bps = std::min(same->least_Bps, limit.Bps);
  same->most_Bps = std::max(same->most_Bps, limit.Bps);
  same->least_latency_s = std::min(same->least_latency_s, latency_s);
  same->most_latency_s = std::max(same->most_latency_s, latency_s);
}

}  // namespace

std::vector<ConnectionLimit> connection_limits(const Cluster& cluster, const Network& network,
                                               TrafficClass traffic) {
  std::vector<ConnectionLimit> found;
  visit_routes(network, [&](int source, int destination, std::span<const LinkId> route) {
    add(found, cluster.node_of(source) == cluster.node_of(destination),
        limit_of(cluster, network, source, destination, route, traffic), network.latency(route));
  });
  return found;
}

}  // namespace trigram
