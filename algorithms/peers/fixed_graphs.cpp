#include <algorithm>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/peers/registry.h"

// Graphs that are the same in every step.
namespace trigram {
namespace {

/// The left and the right neighbour, with all weights 1/3 (D-PSGD, arXiv 1705.09056). If there are
/// two ranks, both neighbours are the other rank, with weight 1/2.
class Ring final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long /*step*/) const override {
    if (size == 1) return {};
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    if (left == right) return {0.5f, {{left, 0.5f}}, {left}};
    const float third = 1.0f / 3;
    return {third, {{left, third}, {right, third}}, {left, right}};
  }
};

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

PeerGraphEntry ring_graph() {
  return plain_graph<Ring>("ring", "Left and right neighbour, weights 1/3 (arXiv 1705.09056)");
}

PeerGraphEntry torus_graph() {
  return plain_graph<Torus>("torus",
                            "Four neighbours on the most nearly square torus, weights 1/5");
}

PeerGraphEntry grid_graph() {
  return plain_graph<Grid>("grid", "Neighbours on the most nearly square grid, Metropolis weights");
}

PeerGraphEntry star_graph() {
  return plain_graph<Star>("star", "Rank 0 averages with every other rank, weights 1/P (BlueFog)");
}

PeerGraphEntry complete_graph() {
  return plain_graph<Complete>("complete", "Every rank averages with all ranks, weights 1/P");
}

}  // namespace trigram
