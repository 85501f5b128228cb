#include <algorithm>

#include "algorithms/peers/entries.h"
#include "algorithms/peers/weights.h"

namespace trigram {
namespace {

/// The neighbours on the most nearly square grid, which does not wrap around. Metropolis weights:
/// the weight of an edge is 1/(1 + the larger number of neighbours of its two ends).
class Grid final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long /*step*/) const override {
    const Rectangle grid(size);
    const std::vector<int> mine = neighbours(grid, rank);
    std::vector<Peers::Source> edges;
    for (const int peer : mine) {
      const std::size_t degree = std::max(mine.size(), neighbours(grid, peer).size());
      edges.push_back({peer, 1 / static_cast<float>(1 + degree)});
    }
    return undirected(rank, edges);
  }

 private:
  static std::vector<int> neighbours(const Rectangle& grid, int rank) {
    const int row = rank / grid.columns, column = rank % grid.columns;
    std::vector<int> peers;
    if (column > 0) peers.push_back(rank - 1);
    if (column + 1 < grid.columns) peers.push_back(rank + 1);
    if (row > 0) peers.push_back(rank - grid.columns);
    if (row + 1 < grid.rows) peers.push_back(rank + grid.columns);
    return peers;
  }
};

}  // namespace

PeerGraphEntry grid_graph() {
  return plain_graph<Grid>("grid", "Neighbours on the most nearly square grid, Metropolis weights");
}

}  // namespace trigram
