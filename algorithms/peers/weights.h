#pragma once

#include <span>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

// What several graphs need to write their rows down.

/// `rank` moved on by `hops`, around the circle of `size` ranks; hops may be negative.
inline int around(int rank, long hops, int size) {
  return static_cast<int>(((rank + hops) % size + size) % size);
}

/// The row of an undirected graph: what is received from a peer is sent to it too. A peer that is
/// named several times counts once, with the sum of its weights, and edges to the own rank count
/// for the own weight, which is what is left to 1.
Peers undirected(int rank, std::span<const Peers::Source> edges);

/// The row of a pairing: 1/2 each; of a rank that has no partner (itself), 1.
Peers pair_with(int rank, int partner);

/// Sends to the ranks `hops` ahead, receives from those `hops` behind, with equal weights 1/(number
/// of hops + 1). Hops that lead to the same rank merge as in `undirected`.
Peers by_hops(int rank, int size, std::span<const long> hops);

/// The sides of the most nearly square rectangle of `size` ranks, numbered row by row.
struct Rectangle {
  explicit Rectangle(int size);
  int rows, columns;
};

}  // namespace trigram
