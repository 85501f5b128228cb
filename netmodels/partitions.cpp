#include "netmodels/partitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/config/config_error.h"
#include "core/config/option_type.h"
#include "netmodels/cluster_network.h"

namespace trigram {
namespace {

bool is_partition(const Failure& event) { return event.kind == Failure::Kind::partition; }

/// The name of the opposite direction of a link.
std::string reverse_name(const std::string& name) {
  constexpr std::string_view kArrow = " > ";
  const auto at = name.find(kArrow);
  if (at == std::string::npos) return name;
  return name.substr(at + kArrow.size()) + std::string(kArrow) + name.substr(0, at);
}

bool separates(const Failure& partition, int node, int other) {
  const auto isolates = [&](int n) { return std::ranges::count(partition.nodes, n) > 0; };
  return isolates(node) != isolates(other);
}

}  // namespace

bool has_partitions(const Cluster& cluster) {
  return std::ranges::any_of(cluster.failures.events, is_partition);
}

std::vector<Outage> outages(const Cluster& cluster, const Network& network, int source,
                            int destination) {
  std::vector<LinkId> route;
  network.route(source, destination, route);
  const auto passes = [&](const std::string& link) {
    return std::ranges::any_of(route, [&](LinkId id) {
      return network.name(id) == link || network.name(id) == reverse_name(link);
    });
  };
  std::vector<Outage> all;
  for (const Failure& event : cluster.failures.events) {
    if (!is_partition(event)) continue;
    const bool cut = event.link.empty()
                         ? separates(event, cluster.node_of(source), cluster.node_of(destination))
                         : passes(event.link);
    if (!cut) continue;
    const double end_s = event.at_s + event.duration_s;
    if (!all.empty() && event.at_s <= all.back().end_s)
      all.back().end_s = std::max(all.back().end_s, end_s);
    else all.push_back({event.at_s, end_s});
  }
  return all;
}

void check_partitions(const Cluster& cluster, const std::string& pointer) {
  if (!has_partitions(cluster)) return;
  if (cluster.inter.background.load > 0)
    throw ConfigError(pointer,
                      "partitions do not stop background traffic; expected no "
                      "/cluster/inter/background beside them");
  const auto network = make_network(cluster);
  std::vector<std::string> names;
  for (LinkId id = 0; id < static_cast<LinkId>(network->links().size()); ++id)
    names.push_back(network->name(id));
  for (std::size_t i = 0; i < cluster.failures.events.size(); ++i) {
    const std::string& link = cluster.failures.events[i].link;
    if (link.empty() || std::ranges::count(names, link) > 0) continue;
    throw ConfigError(
        child(child(pointer, std::to_string(i)), "link"),
        fmt::format("the network has no link \"{}\"; expected one of {}, such as \"{}\" or \"{}\"",
                    shortened(link), names.size(), names.front(), names.back()));
  }
}

double InterruptedConnection::sends_again_s(double since_s) const {
  double at_s = since_s, timeout_s = timeout_s_;
  for (const Outage& outage : outages_) {
    if (at_s < outage.begin_s) break;
    if (timeout_s == 0) at_s = std::max(at_s, outage.end_s);
    for (; at_s < outage.end_s; timeout_s = std::min(2 * timeout_s, kLongestTimeout_s))
      at_s += timeout_s;
  }
  return at_s;
}

double InterruptedConnection::stop(double since_s) {
  if (stops_.empty() || stops_.back().end_s <= since_s)
    stops_.push_back({since_s, sends_again_s(since_s)});
  return stops_.back().end_s;
}

double InterruptedConnection::end_s(double from_s, double seconds) {
  double now_s = from_s;
  if (!stops_.empty() && stops_.back().begin_s <= now_s && now_s < stops_.back().end_s)
    now_s = stops_.back().end_s;
  for (const Outage& outage : outages_) {
    if (outage.end_s <= now_s) continue;
    const double moves_s = std::max(0.0, outage.begin_s - now_s);
    if (moves_s >= seconds && outage.begin_s > now_s) break;
    seconds -= moves_s;
    now_s = stop(std::max(now_s, outage.begin_s));
  }
  return now_s + seconds;
}

InterruptedConnection interrupted_connection(const Cluster& cluster, const Network& network,
                                             int source, int destination) {
  const bool has_timeout = cluster.transport.tcp.has_window();
  return {outages(cluster, network, source, destination),
          has_timeout ? idle_timeout_s(2 * network.latency(source, destination)) : 0};
}

}  // namespace trigram
