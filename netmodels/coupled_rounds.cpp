#include "netmodels/coupled_rounds.h"

#include <algorithm>
#include <limits>

#include "netmodels/partitions.h"

namespace trigram {

CoupledRounds::CoupledRounds(const Network& network, const Cluster& cluster,
                             CollectivePattern::Shape shape, TrafficClass traffic,
                             std::span<const int> members, std::size_t first)
    : shape_(shape), traffic_(traffic) {
  if (shape == CollectivePattern::h_relation) {
    add_pairs(network, cluster, members);
    return;
  }
  add_edges(network, cluster, members, first);
}

/// Collects the links between members of different nodes, or between all members if they share a
/// node; each link once. Records the pair with the longest latency as the slowest.
void CoupledRounds::add_pairs(const Network& network, const Cluster& cluster,
                              std::span<const int> members) {
  exact_ = false;
  const bool between = std::any_of(members.begin(), members.end(), [&](int member) {
    return cluster.node_of(member) != cluster.node_of(members[0]);
  });
  if (between) share_ = cluster.transport.efficiency.share(traffic_);
  std::vector<bool> is_listed(network.links().size());
  std::vector<LinkId> route;
  double longest_s = -1;
  for (const int source : members)
    for (const int destination : members) {
      if (source == destination) continue;
      if (between && cluster.node_of(source) == cluster.node_of(destination)) continue;
      route.clear();
      network.route(source, destination, route);
      for (const LinkId id : route) {
        if (is_listed[static_cast<std::size_t>(id)] || network.link(id).unlimited()) continue;
        is_listed[static_cast<std::size_t>(id)] = true;
        links_.push_back(id);
        bandwidth_Bps_ = std::min(bandwidth_Bps_, share_ * network.link(id).bandwidth_Bps);
      }
      const double latency_s = network.latency(route);
      if (latency_s <= longest_s) continue;
      longest_s = latency_s;
      slowest_source_ = source;
      slowest_destination_ = destination;
    }
}

CoupledRounds CoupledRounds::repeated(std::span<const int> times_by_link, int most) const {
  CoupledRounds flow = *this;
  flow.links_.clear();
  for (const LinkId id : links_)
    flow.links_.insert(flow.links_.end(),
                       static_cast<std::size_t>(times_by_link[static_cast<std::size_t>(id)]), id);
  flow.bandwidth_Bps_ /= most;
  return flow;
}

CoupledRounds CoupledRounds::sustained() const {
  CoupledRounds result = *this;
  result.bandwidth_Bps_ = sustained_bandwidth();
  return result;
}

void CoupledRounds::add_edges(const Network& network, const Cluster& cluster,
                              std::span<const int> members, std::size_t first) {
  const Transport& transport = cluster.transport;
  const std::size_t size = members.size(),
                    count = shape_ == CollectivePattern::ring ? size : size - 1;
  std::vector<int> uses(network.links().size());
  std::vector<std::vector<LinkId>> routes(count);
  for (std::size_t i = 0; i < count; ++i) {
    network.route(members[(first + i) % size], members[(first + i + 1) % size], routes[i]);
    for (const LinkId link : routes[i]) ++uses[static_cast<std::size_t>(link)];
  }
  for (std::size_t i = 0; i < count; ++i) {
    const int source = members[(first + i) % size], destination = members[(first + i + 1) % size];
    double bandwidth_Bps = network.connection_cap(source, destination, traffic_, Rate::burst);
    for (const LinkId id : routes[i]) {
      const Link& link = network.link(id);
      if (link.unlimited()) continue;
      const int sharing = uses[static_cast<std::size_t>(id)];
      bandwidth_Bps = std::min(bandwidth_Bps, link.bandwidth_Bps / sharing);
      exact_ = exact_ && sharing == 1;
      links_.push_back(id);
    }
    sustained_Bps_ = std::min(
        sustained_Bps_, network.connection_cap(source, destination, traffic_, Rate::sustained));
    const bool inside = cluster.node_of(source) == cluster.node_of(destination);
    if (!inside && traffic_ != TrafficClass::collective) {
      share_ = transport.efficiency.share(traffic_);
      bandwidth_Bps *= share_;
    }
    edges_.push_back({.overhead_s = inside ? 0 : transport.stage_overhead_s,
                      .busy_s = inside ? 0 : transport.per_message_s(),
                      .latency_s = network.latency(routes[i]),
                      .per_byte_s = 1 / bandwidth_Bps,
                      .between_nodes = !inside});
    if (bandwidth_Bps < bandwidth_Bps_) {
      bandwidth_Bps_ = bandwidth_Bps;
      slowest_source_ = source;
      slowest_destination_ = destination;
    }
  }
}

bool can_couple(const Cluster& cluster) {
  const LinkSpec& nics = cluster.inter;
  return nics.profile.empty() && nics.background.load == 0 && !has_partitions(cluster) &&
         cluster.accelerator.overlap_slowdown == 1 &&
         cluster.transport.protocol == Transport::Protocol::eager &&
         !cluster.transport.limits_messages();
}

bool predictable(const Cluster& cluster) {
  return can_couple(cluster) && !cluster.inter.shaping.enabled();
}

}  // namespace trigram
