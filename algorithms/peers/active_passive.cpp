#include "algorithms/peers/active_passive.h"

#include "core/random/philox.h"

namespace trigram {
namespace {

enum class Side : char { unknown, active, passive };

/// The side of every rank; empty if the graph is not bipartite.
std::vector<Side> sides_of(const PeerGraph& graph, int size) {
  const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
  std::vector<Side> sides(at(size), Side::unknown);
  for (int first = 0; first < size; ++first) {
    if (sides[at(first)] != Side::unknown) continue;
    sides[at(first)] = Side::active;
    for (std::vector<int> reached = {first}; !reached.empty();) {
      const int rank = reached.back();
      reached.pop_back();
      const Side other = sides[at(rank)] == Side::active ? Side::passive : Side::active;
      for (const int partner : graph.partners(rank, size)) {
        if (sides[at(partner)] == sides[at(rank)]) return {};
        if (sides[at(partner)] == Side::unknown) reached.push_back(partner);
        sides[at(partner)] = other;
      }
    }
  }
  return sides;
}

}  // namespace

ActivePassive::ActivePassive(std::shared_ptr<const PeerGraph> graph, int rank, int size,
                             std::uint64_t seed)
    : graph_(std::move(graph)),
      rank_(rank),
      size_(size),
      seed_(seed),
      partners_(graph_->partners(rank, size)),
      passive_(sides_of(*graph_, size).at(static_cast<std::size_t>(rank)) == Side::passive) {}

std::optional<int> ActivePassive::partner(long step) const {
  const std::vector<int> peers = graph_->peers(rank_, size_, step).send_to;
  if (peers.empty()) return std::nullopt;
  if (peers.size() == 1) return peers.front();
  Philox draw(seed_, rank_, step, Purpose::peers);
  return peers[draw.below(static_cast<std::uint32_t>(peers.size()))];
}

bool is_bipartite(const PeerGraph& graph, int size) { return !sides_of(graph, size).empty(); }

}  // namespace trigram
