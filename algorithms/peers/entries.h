#pragma once

#include "algorithms/peers/registry.h"

namespace trigram {

/// The entry of a graph that has no options and uses no random numbers.
template <class Graph>
PeerGraphEntry plain_graph(std::string name, std::string doc) {
  struct None {};
  return component<PeerGraph, std::uint64_t>(
      std::move(name), std::move(doc), FieldTable<None>{},
      [](const None&, std::uint64_t) { return std::make_unique<Graph>(); });
}

// One function per graph file; registry.cpp holds the table.
PeerGraphEntry ring_graph();
PeerGraphEntry torus_graph();
PeerGraphEntry grid_graph();
PeerGraphEntry complete_graph();
PeerGraphEntry star_graph();
PeerGraphEntry static_exponential_graph();
PeerGraphEntry one_peer_exponential_graph();
PeerGraphEntry n_peer_exponential_graph();
PeerGraphEntry shift_one_graph();
PeerGraphEntry shuffled_exponential_graph();
PeerGraphEntry random_matching_graph();
PeerGraphEntry bipartite_graph();
PeerGraphEntry butterfly_graph();
PeerGraphEntry base_k_graph();

}  // namespace trigram
