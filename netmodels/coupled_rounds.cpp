#include "netmodels/coupled_rounds.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

namespace trigram {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

CoupledRounds::CoupledRounds(const Network& network, const Cluster& cluster,
                             Rounds::Pattern pattern, Pattern traffic,
                             std::span<const int> members, std::size_t first)
    : pattern_(pattern), traffic_(traffic), bandwidth_Bps_(kInfinity) {
  if (pattern == Rounds::h_relation) {
    add_pairs(network, cluster, members);
    return;
  }
  passing_.resize(network.links().size());
  const bool rotates = pattern == Rounds::rotation;
  const std::size_t distinct = rotates ? members.size() - 1 : 1;
  for (std::size_t shift = 1; shift <= distinct; ++shift)
    add_round(network, cluster, members, first, shift, pattern != Rounds::chain);
  if (rotates) take_links_of_a_usual_round(network, members, first);
  routes_ = {};
  passing_ = {};
  sharing_ = {};
  if (!rotates) return;
  const Edge& one = slowest_.front();
  for (const Edge& edge : slowest_)
    exact_ = exact_ && edge.latency_s == one.latency_s && edge.per_byte_s == one.per_byte_s;
}

/// Rounds of a rotation share links in different measure, as the hop goes to another node for some
/// or for all workers of one. Those of one that is as full as the rounds are in the mean, or next
/// above it, stand for all.
void CoupledRounds::take_links_of_a_usual_round(const Network& network,
                                                std::span<const int> members, std::size_t first) {
  const double mean =
      std::accumulate(sharing_.begin(), sharing_.end(), 0.0) / static_cast<double>(sharing_.size());
  std::size_t usual = 0;
  for (std::size_t i = 0; i < sharing_.size(); ++i) {
    const bool enough = sharing_[i] >= mean, better = sharing_[i] < sharing_[usual];
    if (enough && (better || sharing_[usual] < mean)) usual = i;
  }
  links_.clear();
  const std::size_t size = members.size();
  std::vector<LinkId> route;
  for (std::size_t i = 0; i < size; ++i) {
    route.clear();
    network.route(members[(first + i) % size], members[(first + i + usual + 1) % size], route);
    std::copy_if(route.begin(), route.end(), std::back_inserter(links_),
                 [&](LinkId id) { return !network.link(id).unlimited(); });
  }
}

/// All links between members of different nodes, if there are any, once; the slowest is a pair with
/// the longest latency.
void CoupledRounds::add_pairs(const Network& network, const Cluster& cluster,
                              std::span<const int> members) {
  exact_ = false;
  const bool between = std::any_of(members.begin(), members.end(), [&](int member) {
    return cluster.node_of(member) != cluster.node_of(members[0]);
  });
  if (between) share_ = cluster.transport.efficiency.of(traffic_);
  std::vector<bool> passed(network.links().size());
  std::vector<LinkId> route;
  double longest_s = -1;
  for (const int source : members)
    for (const int destination : members) {
      if (source == destination) continue;
      if (between && cluster.node_of(source) == cluster.node_of(destination)) continue;
      route.clear();
      network.route(source, destination, route);
      for (const LinkId id : route) {
        if (passed[static_cast<std::size_t>(id)] || network.link(id).unlimited()) continue;
        passed[static_cast<std::size_t>(id)] = true;
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

void CoupledRounds::add_round(const Network& network, const Cluster& cluster,
                              std::span<const int> members, std::size_t first, std::size_t shift,
                              bool closed) {
  const Transport& transport = cluster.transport;
  const std::size_t size = members.size(), messages = closed ? size : size - 1;
  const auto ends = [&](std::size_t i) {
    return std::pair(members[(first + i) % size], members[(first + i + shift) % size]);
  };
  routes_.resize(messages);
  for (std::size_t i = 0; i < messages; ++i) {
    routes_[i].clear();
    network.route(ends(i).first, ends(i).second, routes_[i]);
    for (const LinkId link : routes_[i]) ++passing_[static_cast<std::size_t>(link)];
  }
  int most = 0;  // messages that pass one link
  std::vector<Edge> round;
  for (std::size_t i = 0; i < messages; ++i) {
    const auto [source, destination] = ends(i);
    double bandwidth_Bps = network.connection_cap(source, destination, traffic_);
    for (const LinkId id : routes_[i]) {
      const Link& link = network.link(id);
      if (link.unlimited()) continue;
      const int sharing = passing_[static_cast<std::size_t>(id)];
      bandwidth_Bps = std::min(bandwidth_Bps, link.bandwidth_Bps / sharing);
      exact_ = exact_ && sharing == 1;
      most = std::max(most, sharing);
      if (pattern_ != Rounds::rotation) links_.push_back(id);
    }
    const bool inside = cluster.node_of(source) == cluster.node_of(destination);
    if (!inside && traffic_ != Pattern::collective) {
      share_ = transport.efficiency.of(traffic_);
      bandwidth_Bps *= share_;
    }
    const double overhead_s = inside ? 0 : transport.overhead_s(1);
    round.push_back({network.latency(routes_[i]) + overhead_s, 1 / bandwidth_Bps});
    if (bandwidth_Bps < bandwidth_Bps_) {
      bandwidth_Bps_ = bandwidth_Bps;
      slowest_source_ = source;
      slowest_destination_ = destination;
    }
  }
  sharing_.push_back(most);
  for (const auto& route : routes_)
    for (const LinkId link : route) passing_[static_cast<std::size_t>(link)] = 0;
  for (const Edge& edge : round)
    exact_ =
        exact_ && edge.latency_s == round[0].latency_s && edge.per_byte_s == round[0].per_byte_s;
  if (pattern_ != Rounds::rotation) {
    edges_ = std::move(round);
    return;
  }
  // Of unlike messages no single one need be the slowest at all lengths.
  Edge slowest;
  for (const Edge& edge : round) {
    slowest.latency_s = std::max(slowest.latency_s, edge.latency_s);
    slowest.per_byte_s = std::max(slowest.per_byte_s, edge.per_byte_s);
  }
  slowest_.push_back(slowest);
}

bool can_couple(const Cluster& cluster) {
  const LinkSpec& nics = cluster.inter;
  return nics.profile.empty() && nics.background.load == 0 &&
         cluster.accelerator.overlap_slowdown == 1;
}

bool foreseeable(const Cluster& cluster) {
  return can_couple(cluster) && !cluster.inter.shaping.exists();
}

bool CoupledRounds::alike(double shortest, double longest) const {
  constexpr double kAlike = 0.999;
  const Edge& any = pattern_ == Rounds::rotation ? slowest_.front() : edges_.front();
  return any.seconds(shortest) >= kAlike * any.seconds(longest);
}

double CoupledRounds::seconds(int rounds, double bytes, std::span<const double> work_s) const {
  if (pattern_ == Rounds::rotation) {
    double sum_s = 0;
    for (int i = 0; i < rounds; ++i)
      sum_s += slowest_[static_cast<std::size_t>(i) % slowest_.size()].seconds(bytes);
    return sum_s;
  }
  const bool closed = pattern_ == Rounds::ring;
  double round_s = 0;
  const std::size_t size = edges_.size() + (closed ? 0 : 1);
  for (std::size_t i = 0; i < size; ++i) {
    const double out_s = i < edges_.size() ? edges_[i].seconds(bytes) : 0;
    const double in_s =
        i > 0 ? edges_[i - 1].seconds(bytes) : (closed ? edges_.back().seconds(bytes) : 0);
    round_s = std::max(round_s, std::max(out_s, in_s) + (work_s.empty() ? 0 : work_s[i]));
  }
  return rounds * round_s;
}

}  // namespace trigram
