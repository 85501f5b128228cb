#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

/// The roles of pairwise asynchronous averages over a bipartite graph (AD-PSGD, arXiv 1710.06952,
/// section 3): active ranks begin an average, passive ranks answer, and only ranks of different
/// roles ever meet. So no rank waits for one that waits for it. Of ranks that are connected the
/// lowest is active.
class ActivePassive {
 public:
  /// `graph` passes `is_bipartite` among `size` ranks.
  ActivePassive(std::shared_ptr<const PeerGraph> graph, int rank, int size, std::uint64_t seed);

  /// Whether the own rank is.
  bool passive() const { return passive_; }
  /// Whom the own rank ever meets, ascending.
  const std::vector<int>& partners() const { return partners_; }
  /// Whom the own rank, an active one, meets at a step of its own: its peer in the graph at that
  /// step; of several, one that is drawn, independently of other ranks and steps; of none, nobody.
  std::optional<int> partner(long step) const;

 private:
  std::shared_ptr<const PeerGraph> graph_;
  int rank_, size_;
  std::uint64_t seed_;
  std::vector<int> partners_;
  bool passive_;
};

/// Whether the ranks fall into two sides such that nobody ever meets one of its own: whether there
/// is no circle of an odd number of ranks, counting all who meet at any step.
bool is_bipartite(const PeerGraph& graph, int size);

}  // namespace trigram
