#include "algorithms/peers/entries.h"
#include "algorithms/peers/weights.h"

namespace trigram {
namespace {

/// Every rank averages with every other rank, with weights 1/P: after one step all models are
/// equal.
class Complete final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long /*step*/) const override {
    std::vector<Peers::Source> edges;
    for (int hop = 1; hop < size; ++hop)
      edges.push_back({around(rank, hop, size), 1 / static_cast<float>(size)});
    return undirected(rank, edges);
  }
};

}  // namespace

PeerGraphEntry complete_graph() {
  return plain_graph<Complete>("complete", "Every rank averages with all ranks, weights 1/P");
}

}  // namespace trigram
