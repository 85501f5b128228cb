#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/peers/peer_graph.h"
#include "core/algorithm.h"
#include "core/config/component.h"
#include "core/layout.h"

namespace trigram {

/// The participants of a run's exchanges: all workers or, in hierarchical execution, all nodes,
/// each represented by its leader.
struct Participants {
  int count;
  const char* noun;  // plural, for error messages: "workers" or "nodes (execution is hierarchical)"
};

inline Participants participants(const Execution& execution, const Layout& layout) {
  if (execution.hierarchical)
    return {static_cast<int>(layout.nodes().size()), "nodes (execution is hierarchical)"};
  return {layout.ranks(), "workers"};
}

/// A peer graph by name. Its `make` takes the run's seed, which is the same on all ranks.
using PeerGraphEntry = Component<PeerGraph, std::uint64_t>;

/// Every peer graph, in the order in which they are listed to users.
const std::vector<PeerGraphEntry>& peer_graphs();

/// The choice of a peer graph: its name and its options.
struct PeerGraphSpec {
  std::string name = "ring";
  Json options = Json::object();
};

/// The graph of `spec`; missing options have their defaults. Throws ConfigError if there is no
/// graph of that name.
std::unique_ptr<PeerGraph> make_peer_graph(const PeerGraphSpec& spec, std::uint64_t seed = 0);

/// A peer graph in a configuration: "name" or {"name": ..., options}.
OptionType<PeerGraphSpec> peer_graph_kind();

/// The cycle of a method whose ranks exchange with their peers in the graph of the step; empty if
/// the graph is drawn at random.
std::optional<Cycle> cycle_of(const PeerGraph& graph, Participants participants);

/// The schedule of a method whose ranks exchange with their peers in every step. Options has a
/// member `PeerGraphSpec graph`.
template <class Options>
ExchangeSchedule schedule_of_graph(const Options& options, const Layout& layout) {
  return {.cycle =
              cycle_of(*make_peer_graph(options.graph), participants(options.execution, layout))};
}

/// The requirements of an algorithm on its graph, besides that it supports the number of ranks.
struct GraphNeeds {
  bool undirected = false;  // W is symmetric
  bool fixed = false;       // the same peers in every step
  bool bipartite = false;   // every edge joins an active and a passive rank
};

/// Throws ConfigError at `pointer` if the graph cannot serve the participants, or does not satisfy
/// the needs of `algorithm`.
void require_graph(const PeerGraphSpec& spec, GraphNeeds needs, const std::string& algorithm,
                   Participants participants, const std::string& pointer);

/// As require_graph, in the form of AlgorithmHooks::check, for an algorithm whose Options has a
/// member `PeerGraphSpec graph`.
template <class Options>
auto check_graph(std::string algorithm, GraphNeeds needs = {}) {
  return [algorithm = std::move(algorithm), needs](const Options& options, const Layout& layout,
                                                   const std::string& pointer) {
    require_graph(options.graph, needs, algorithm, participants(options.execution, layout),
                  pointer + "/graph");
  };
}

/// The entry of a graph that is constructed from its options and, if it uses random numbers, from
/// the run's seed.
template <class Graph, class Options>
PeerGraphEntry graph_entry(std::string name, std::string doc, FieldTable<Options> fields) {
  return component<PeerGraph, std::uint64_t>(
      std::move(name), std::move(doc), std::move(fields),
      [](const Options& options, [[maybe_unused]] std::uint64_t seed) {
        if constexpr (std::is_constructible_v<Graph, const Options&, std::uint64_t>)
          return std::make_unique<Graph>(options, seed);
        else return std::make_unique<Graph>(options);
      });
}

/// The options of a graph that has none.
struct NoOptions {};
/// The entry of a graph without options that uses no random numbers.
template <class Graph>
PeerGraphEntry plain_graph(std::string name, std::string doc) {
  return component<PeerGraph, std::uint64_t>(
      std::move(name), std::move(doc), FieldTable<NoOptions>{},
      [](const NoOptions&, std::uint64_t) { return std::make_unique<Graph>(); });
}

// One function per graph; registry.cpp holds the table.
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
