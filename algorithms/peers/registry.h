#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/peers/participants.h"
#include "algorithms/peers/peer_graph.h"
#include "core/config/component.h"

namespace trigram {

/// A peer graph that configurations know by name. Made from the run's seed, the same on all ranks.
using PeerGraphEntry = Component<PeerGraph, std::uint64_t>;

/// Every peer graph, in the order in which they are listed to users.
const std::vector<PeerGraphEntry>& peer_graphs();

/// Which peer graph: its name and its options.
struct PeerGraphSpec {
  std::string name = "ring";
  Json options = Json::object();
};

/// The graph of `spec`; options that are missing have their defaults. Throws ConfigError when there
/// is none of that name.
std::unique_ptr<PeerGraph> make_peer_graph(const PeerGraphSpec& spec, std::uint64_t seed = 0);

/// How a configuration names a peer graph: "name" or {"name": ..., options}.
OptionType<PeerGraphSpec> peer_graph_kind();

/// The cycle of a method whose ranks exchange with their peers in the graph of the step; empty
/// where the graph is drawn at random.
std::optional<Cycle> cycle_of(const PeerGraph& graph, Participants who);

/// The schedule of such a method, whose Options hold a `PeerGraphSpec graph`.
template <class Options>
ExchangeSchedule schedule_of_graph(const Options& options, const Layout& layout) {
  return {.cycle =
              cycle_of(*make_peer_graph(options.graph), participants(options.execution, layout))};
}

/// What an algorithm needs of a graph, beside that it serves the number of ranks.
struct GraphNeeds {
  bool undirected = false;  // W is symmetric
  bool fixed = false;       // the same peers in every step
  bool bipartite = false;   // active ranks only ever meet passive ones
};

/// Throws ConfigError at `pointer` when the graph cannot serve those that exchange, or lacks what
/// `algorithm` needs.
void require_graph(const PeerGraphSpec& spec, GraphNeeds needs, const std::string& algorithm,
                   Participants who, const std::string& pointer);

/// The same as the check of an algorithm whose Options hold a `PeerGraphSpec graph`.
template <class Options>
auto check_graph(std::string algorithm, GraphNeeds needs = {}) {
  return [algorithm = std::move(algorithm), needs](const Options& options, const Layout& layout,
                                                   const std::string& pointer) {
    require_graph(options.graph, needs, algorithm, participants(options.execution, layout),
                  pointer + "/graph");
  };
}

}  // namespace trigram
