#pragma once

#include <span>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

// Helpers for graphs that compute their rows of the mixing matrix.

/// The rank `hops` ahead of `rank` on the circle of `size` ranks; hops may be negative.
inline int around(int rank, long hops, int size) {
  return static_cast<int>(((rank + hops) % size + size) % size);
}

/// The row of a rank of an undirected graph: it sends to every peer that it receives from. A peer
/// in several edges counts once, with the sum of their weights. Edges to `rank` itself count as its
/// own weight, which is 1 less the weights of the peers.
Peers undirected(int rank, std::span<const Peers::Source> edges);

/// The row of a rank in a pair, with weights 1/2. If `partner` is `rank` itself, its weight is 1.
Peers pair_with(int rank, int partner);

/// The row of a rank that sends to the ranks `hops` ahead and receives from those `hops` behind,
/// with equal weights 1/(number of hops + 1). Hops that lead to the same rank are merged as in
/// `undirected`.
Peers by_hops(int rank, int size, std::span<const long> hops);

/// The sides of the most nearly square rectangle of `size` ranks, numbered row by row.
struct Rectangle {
  explicit Rectangle(int size);
  int rows, columns;
};

}  // namespace trigram
