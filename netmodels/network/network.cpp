#include "netmodels/network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trigram {

VertexId Graph::add(Vertex vertex) {
  vertices.push_back(std::move(vertex));
  return static_cast<VertexId>(vertices.size() - 1);
}

LinkId Graph::add(const Link& link) {
  links.push_back(link);
  return static_cast<LinkId>(links.size() - 1);
}

LinkId Graph::add_duplex(VertexId a, VertexId b, double bandwidth_Bps, double latency_s) {
  const LinkId there = add(Link{a, b, bandwidth_Bps, latency_s});
  add(Link{b, a, bandwidth_Bps, latency_s});
  return there;
}

std::string Network::name(LinkId id) const {
  const Vertex &from = vertex(link(id).from), &to = vertex(link(id).to);
  return fmt::format("{} {} > {} {}", from.tier, from.name, to.tier, to.name);
}

double Network::latency(std::span<const LinkId> route, double factor) const {
  double sum = 0;
  for (const LinkId id : route) sum += link(id).latency_s * (link(id).varies ? factor : 1);
  return sum;
}

double Network::latency(int source, int destination) const {
  std::vector<LinkId> links;
  route(source, destination, links);
  return latency(links);
}

double Network::latency_factor(double date_s) const {
  double factor = 1;
  for (const LinkChange& change : profile())
    if (change.at_s <= date_s) factor = change.latency_factor;
  return factor;
}

double Network::largest_bandwidth_factor() const {
  double factor = 1;
  for (const LinkChange& change : profile()) factor = std::max(factor, change.bandwidth_factor);
  return factor;
}

double Network::bandwidth(int source, int destination, Rate rate) const {
  if (source == destination) return loopback_Bps_;
  std::vector<LinkId> links;
  route(source, destination, links);
  double narrowest = connection_cap(source, destination, TrafficClass::collective, rate);
  for (const LinkId id : links) narrowest = std::min(narrowest, link(id).bandwidth_Bps);
  return narrowest;
}

double Network::message_time(int source, int destination, double nbytes) const {
  return latency(source, destination) + nbytes / bandwidth(source, destination);
}

}  // namespace trigram
