#include "netmodels/network/network_summary.h"

#include <algorithm>

namespace trigram {
namespace {

void count_links(const Network& network, NetworkSummary& s) {
  for (const Link& link : network.links()) {
    if (link.unlimited()) continue;
    ++s.links;
    s.narrowest_Bps =
        s.links == 1 ? link.bandwidth_Bps : std::min(s.narrowest_Bps, link.bandwidth_Bps);
    s.widest_Bps = std::max(s.widest_Bps, link.bandwidth_Bps);
  }
}

}  // namespace

bool visit_routes(
    const Network& network,
    const std::function<void(int source, int destination, std::span<const LinkId> route)>& visit) {
  constexpr int kMaxUnsampledNodes = 2048, kSampledSources = 64;
  const int nodes = network.nodes(), per_node = network.ranks() / nodes;
  std::vector<LinkId> route;
  const auto follow = [&](int source, int destination) {
    route.clear();
    network.route(source, destination, route);
    visit(source, destination, route);
  };
  if (per_node > 1) follow(0, 1);
  const bool sampled = nodes > kMaxUnsampledNodes;
  const int step = sampled ? nodes / kSampledSources : 1;
  for (int from = 0; from < nodes; from += step)
    for (int to = 0; to < nodes; ++to)
      if (from != to) follow(from * per_node, to * per_node);
  return sampled;
}

NetworkSummary summarize(const Network& network) {
  NetworkSummary s;
  s.workers = network.ranks();
  s.nodes = network.nodes();
  for (const Vertex& vertex : network.vertices())
    s.switches += vertex.kind == Vertex::Kind::network_switch;
  count_links(network, s);
  s.bisection = network.bisection();
  s.sampled = visit_routes(network, [&](int, int, std::span<const LinkId> route) {
    const auto hops =
        std::ranges::count_if(route, [&](LinkId id) { return !network.link(id).unlimited(); });
    s.diameter = std::max(s.diameter, static_cast<int>(hops));
    s.longest_latency_s = std::max(s.longest_latency_s, network.latency(route));
  });
  return s;
}

}  // namespace trigram
