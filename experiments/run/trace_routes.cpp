#include "experiments/run/trace_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace trigram {
namespace {

/// The first of the narrowest links of a route; "" if it has none.
std::string narrowest(const Network& network, int source, int destination) {
  std::vector<LinkId> links;
  network.route(source, destination, links);
  const auto least = std::ranges::min_element(
      links, {}, [&](LinkId id) { return network.link(id).bandwidth_Bps; });
  return least == links.end() ? "" : network.name(*least);
}

Json route_json(const Network& network, const Layout& layout, int source, int destination) {
  const double bandwidth_Bps = network.bandwidth(source, destination);
  return {{"latency_us", 1e6 * network.latency(source, destination)},
          {"bandwidth_Bps", std::isfinite(bandwidth_Bps) ? Json(bandwidth_Bps) : Json()},
          {"link", narrowest(network, source, destination)},
          {"intra", layout.same_node(source, destination)}};
}

}  // namespace

void add_routes(Json& trace, const Network& network, const Layout& layout) {
  std::set<std::pair<int, int>> pairs;
  for (const Json& event : trace.at("traceEvents")) {
    if (!event.contains("args") || !event["args"].contains("peers")) continue;
    for (const int peer : event["args"]["peers"]) {
      pairs.emplace(event["pid"].get<int>(), peer);
      pairs.emplace(peer, event["pid"].get<int>());
    }
  }
  Json routes = Json::object();
  for (const auto& [source, destination] : pairs)
    routes[fmt::format("{}>{}", source, destination)] =
        route_json(network, layout, source, destination);
  trace["otherData"]["routes"] = std::move(routes);
}

}  // namespace trigram
