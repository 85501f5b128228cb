#include "algorithms/peers/registry.h"

#include <fmt/format.h>

#include "algorithms/peers/active_passive.h"

namespace trigram {

const std::vector<PeerGraphEntry>& peer_graphs() {
  static const std::vector<PeerGraphEntry> entries = {
      ring_graph(),
      torus_graph(),
      grid_graph(),
      complete_graph(),
      star_graph(),
      static_exponential_graph(),
      one_peer_exponential_graph(),
      n_peer_exponential_graph(),
      shift_one_graph(),
      shuffled_exponential_graph(),
      random_matching_graph(),
      bipartite_graph(),
      butterfly_graph(),
      base_k_graph(),
  };
  return entries;
}

std::unique_ptr<PeerGraph> make_peer_graph(const PeerGraphSpec& spec, std::uint64_t seed) {
  const PeerGraphEntry& entry =
      find_component(peer_graphs(), "peer graph", Json(spec.name), "/graph");
  return entry.make(entry.resolve(spec.options, "/graph"), seed);
}

OptionType<PeerGraphSpec> peer_graph_kind() {
  return component_kind<PeerGraphSpec>(peer_graphs(), "peer graph");
}

std::optional<Cycle> cycle_of(const PeerGraph& graph, Participants participants) {
  const long period = graph.period(participants.count);
  if (period == PeerGraph::kAperiodic) return std::nullopt;
  return Cycle{.steps = period};
}

void require_graph(const PeerGraphSpec& spec, GraphNeeds needs, const std::string& algorithm,
                   Participants participants, const std::string& pointer) {
  const auto graph = make_peer_graph(spec);
  if (const std::string why = graph->size_error(participants.count); !why.empty())
    throw ConfigError(pointer, fmt::format("{} cannot serve {} {}: {}", spec.name,
                                           participants.count, participants.noun, why));
  if (needs.undirected && graph->directed())
    throw ConfigError(pointer,
                      fmt::format("{} is directed, and {} needs a symmetric mixing matrix; "
                                  "choose an undirected graph, or sgp",
                                  spec.name, algorithm));
  if (needs.fixed && graph->period(participants.count) != 1)
    throw ConfigError(pointer, fmt::format("{} changes its peers from step to step, and {} needs "
                                           "the same ones in every step; choose a fixed graph",
                                           spec.name, algorithm));
  if (needs.bipartite && !is_bipartite(*graph, participants.count))
    throw ConfigError(pointer,
                      fmt::format("{} of {} {} has an odd cycle, and {} needs a bipartite graph; "
                                  "choose bipartite, grid, star or a ring of an even number",
                                  spec.name, participants.count, participants.noun, algorithm));
}

}  // namespace trigram
