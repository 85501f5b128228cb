#include "netmodels/link_queues.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

namespace trigram {
namespace {

double bandwidth_Bps(const Network& network, LinkId id, double factor) {
  const Link& link = network.link(id);
  return link.bandwidth_Bps * (link.varies ? factor : 1);
}

struct Narrowest {
  LinkId link = -1;
  double share_Bps = std::numeric_limits<double>::infinity();
};

Narrowest narrowest(const Network& network, std::span<const LinkId> route,
                    const std::unordered_map<LinkId, int>& flows_of, double factor) {
  constexpr double kRounding = 1 - 1e-12;
  Narrowest found;
  for (const LinkId id : route) {
    const double share_Bps = bandwidth_Bps(network, id, factor) / flows_of.at(id);
    if (share_Bps < kRounding * found.share_Bps) found = {id, share_Bps};
  }
  return found;
}

}  // namespace

double queueing_s(const Network& network, std::span<const BulkFlow> flows, int source,
                  int destination, double factor) {
  std::vector<std::vector<LinkId>> routes(flows.size());
  std::unordered_map<LinkId, int> flows_of;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    network.route(flows[i].source, flows[i].destination, routes[i]);
    for (const LinkId id : routes[i]) ++flows_of[id];
  }
  std::vector<LinkId> own;
  network.route(source, destination, own);
  double wait_s = 0;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const BulkFlow& flow = flows[i];
    const Narrowest at = narrowest(network, routes[i], flows_of, factor);
    if (std::ranges::find(own, at.link) == own.end()) continue;
    // A flow that its connection limits more than its links leaves no queue.
    const double cap_Bps =
        network.connection_cap(flow.source, flow.destination, TrafficClass::collective);
    if (cap_Bps < at.share_Bps) continue;
    const double carried = at.share_Bps * 2 * network.latency(routes[i]);
    const double queue = std::min(flow.unsent_bytes, flow.window_bytes - carried);
    wait_s += std::max(0.0, queue) / bandwidth_Bps(network, at.link, factor);
  }
  return wait_s;
}

}  // namespace trigram
