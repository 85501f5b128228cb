#include "algorithms/peers/peer_graph.h"

#include <algorithm>
#include <set>

namespace trigram {

std::vector<int> PeerGraph::partners(int rank, int size) const {
  std::set<int> partners;
  const long steps = period(size);
  for (int other = 0; steps == kAperiodic && other < size; ++other)
    if (other != rank) partners.insert(other);
  for (long t = 0; t < steps; ++t)
    for (const int peer : peers(rank, size, t).send_to) partners.insert(peer);
  return {partners.begin(), partners.end()};
}

namespace {

/// Adds a source or, if the rank is already a source, adds to its weight.
void merge(std::vector<Peers::Source>& sources, Peers::Source source) {
  const auto same = std::find_if(sources.begin(), sources.end(),
                                 [&](const Peers::Source& s) { return s.rank == source.rank; });
  if (same == sources.end()) sources.push_back(source);
  else same->weight += source.weight;
}

}  // namespace

Peers undirected(int rank, std::span<const Peers::Source> edges) {
  Peers peers;
  for (const Peers::Source& edge : edges)
    if (edge.rank != rank) merge(peers.receive_from, edge);
  double self_weight = 1;
  for (const Peers::Source& source : peers.receive_from) {
    self_weight -= double{source.weight};
    peers.send_to.push_back(source.rank);
  }
  peers.self_weight = static_cast<float>(self_weight);
  return peers;
}

Peers pair_with(int rank, int partner) {
  if (partner == rank) return {};
  return {0.5f, {{partner, 0.5f}}, {partner}};
}

Peers by_hops(int rank, int size, std::span<const long> hops) {
  const float weight = 1 / static_cast<float>(hops.size() + 1);
  std::vector<Peers::Source> behind, ahead;
  for (const long h : hops) {
    behind.push_back({around(rank, -h, size), weight});
    ahead.push_back({around(rank, h, size), weight});
  }
  Peers peers = undirected(rank, behind);
  peers.send_to = undirected(rank, ahead).send_to;
  return peers;
}

Rectangle::Rectangle(int size) : rows(1) {
  for (int side = 1; side * side <= size; ++side)
    if (size % side == 0) rows = side;
  columns = size / rows;
}

}  // namespace trigram
