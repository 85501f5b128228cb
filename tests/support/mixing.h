#pragma once

#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram::test {

using Matrix = std::vector<std::vector<double>>;

/// The mixing matrix of one step, assembled from the peers of all ranks. Row i has the weights with
/// which rank i mixes the models of all ranks.
inline Matrix assemble(const PeerGraph& graph, int size, long step) {
  Matrix w(static_cast<std::size_t>(size), std::vector<double>(static_cast<std::size_t>(size), 0));
  for (int r = 0; r < size; ++r) {
    const Peers peers = graph.peers(r, size, step);
    auto& row = w[static_cast<std::size_t>(r)];
    row[static_cast<std::size_t>(r)] = peers.self_weight;
    for (const auto& source : peers.receive_from)
      row[static_cast<std::size_t>(source.rank)] += source.weight;
  }
  return w;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.size();
  Matrix c(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

}  // namespace trigram::test
