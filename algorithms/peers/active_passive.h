#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

/// The roles of pairwise asynchronous averages over a bipartite graph (AD-PSGD, arXiv 1710.06952,
/// section 3): active ranks start an average, passive ranks answer, and ranks of the same role
/// never average with each other. So no two ranks ever wait for each other. The lowest rank of each
/// connected component of the graph is active.
class ActivePassive {
 public:
  /// `graph` must satisfy `is_bipartite` for `size` ranks.
  ActivePassive(std::shared_ptr<const PeerGraph> graph, int rank, int size, std::uint64_t seed);

  /// True if this rank is passive.
  bool passive() const { return passive_; }
  /// All ranks that this rank ever averages with, ascending.
  const std::vector<int>& partners() const { return partners_; }
  /// The partner of this rank in its own step `step`: its peer in the graph in that step. This rank
  /// must be active. If there are several peers, one is drawn, independently of other ranks and
  /// steps. Empty if there is no peer.
  std::optional<int> partner(long step) const;

 private:
  std::shared_ptr<const PeerGraph> graph_;
  int rank_, size_;
  std::uint64_t seed_;
  std::vector<int> partners_;
  bool passive_;
};

/// True if the ranks can be divided into two sides such that no rank ever exchanges with a rank of
/// its own side, that is, if the union of the graph over all steps has no odd cycle.
bool is_bipartite(const PeerGraph& graph, int size);

}  // namespace trigram
