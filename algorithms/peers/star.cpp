#include "algorithms/peers/entries.h"
#include "algorithms/peers/weights.h"

namespace trigram {
namespace {

/// Rank 0 averages with every other rank. Every edge has the weight 1/P, so the centre keeps 1/P
/// and a leaf 1 - 1/P (BlueFog's StarGraph).
class Star final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long /*step*/) const override {
    const float weight = 1 / static_cast<float>(size);
    std::vector<Peers::Source> edges;
    if (rank != 0) edges.push_back({0, weight});
    else
      for (int leaf = 1; leaf < size; ++leaf) edges.push_back({leaf, weight});
    return undirected(rank, edges);
  }
};

}  // namespace

PeerGraphEntry star_graph() {
  return plain_graph<Star>("star", "Rank 0 averages with every other rank, weights 1/P (BlueFog)");
}

}  // namespace trigram
