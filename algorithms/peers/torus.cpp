#include "algorithms/peers/entries.h"
#include "algorithms/peers/weights.h"

namespace trigram {
namespace {

/// The four neighbours on the most nearly square torus, with all weights 1/5. Along a side of
/// length 2 both neighbours are the same rank, which then has the weight 2/5; along a side of
/// length 1 they are the rank itself. So a prime number of ranks yields a ring with weights 3/5,
/// 1/5 and 1/5.
class Torus final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long /*step*/) const override {
    const Rectangle torus(size);
    const int row = rank / torus.columns, column = rank % torus.columns;
    std::vector<Peers::Source> edges;
    for (const int by : {-1, 1}) {
      edges.push_back({row * torus.columns + around(column, by, torus.columns), 0.2f});
      edges.push_back({around(row, by, torus.rows) * torus.columns + column, 0.2f});
    }
    return undirected(rank, edges);
  }
};

}  // namespace

PeerGraphEntry torus_graph() {
  return plain_graph<Torus>("torus",
                            "Four neighbours on the most nearly square torus, weights 1/5");
}

}  // namespace trigram
