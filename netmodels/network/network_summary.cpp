#include "netmodels/network/network_summary.h"

#include <algorithm>

namespace trigram {
namespace {

/// Above this number of nodes, only some nodes are used as sources.
constexpr int kMostSources = 2048, kSampledSources = 64;

void count_links(const Network& network, NetworkSummary& s) {
  for (const Link& link : network.links()) {
    if (link.unlimited()) continue;
    ++s.links;
    s.narrowest_Bps =
        s.links == 1 ? link.bandwidth_Bps : std::min(s.narrowest_Bps, link.bandwidth_Bps);
    s.widest_Bps = std::max(s.widest_Bps, link.bandwidth_Bps);
  }
}

/// The workers of a node have equivalent routes to other nodes, so the first worker represents them
/// all. The route from the first worker to the second represents routes inside nodes.
void follow_routes(const Network& network, NetworkSummary& s) {
  const int per_node = s.workers / s.nodes;
  s.sampled = s.nodes > kMostSources;
  const int step = s.sampled ? s.nodes / kSampledSources : 1;
  std::vector<LinkId> route;
  const auto follow = [&](int source, int destination) {
    route.clear();
    network.route(source, destination, route);
    const auto hops = std::count_if(route.begin(), route.end(),
                                    [&](LinkId id) { return !network.link(id).unlimited(); });
    s.diameter = std::max(s.diameter, static_cast<int>(hops));
    s.longest_latency_s = std::max(s.longest_latency_s, network.latency(route));
  };
  for (int from = 0; from < s.nodes; from += step)
    for (int to = 0; to < s.nodes; ++to) follow(from * per_node, to * per_node);
  if (per_node > 1) follow(0, 1);
}

}  // namespace

NetworkSummary summarize(const Network& network) {
  NetworkSummary s;
  s.workers = network.ranks();
  s.nodes = network.nodes();
  for (const Vertex& vertex : network.vertices())
    s.switches += vertex.kind == Vertex::Kind::network_switch;
  count_links(network, s);
  s.bisection = network.bisection();
  follow_routes(network, s);
  return s;
}

}  // namespace trigram
