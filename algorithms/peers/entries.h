#pragma once

#include "algorithms/peers/registry.h"

namespace trigram {

/// The entry of a graph without options that draws nothing.
template <class Graph>
PeerGraphEntry plain_graph(std::string name, std::string doc) {
  struct None {};
  return component<PeerGraph, std::uint64_t>(
      std::move(name), std::move(doc), FieldTable<None>{},
      [](const None&, std::uint64_t) { return std::make_unique<Graph>(); });
}

// One function per graph file; the table is in registry.cpp.
PeerGraphEntry ring_graph();
PeerGraphEntry shift_one_graph();

}  // namespace trigram
