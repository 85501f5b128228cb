#include "algorithms/peers/spectral_gap.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace trigram {
namespace {

using MixingMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

MixingMatrix matrix(const PeerGraph& graph, int size, long step) {
  const std::vector<double> elements = mixing_matrix(graph, size, step);
  return Eigen::Map<const MixingMatrix>(elements.data(), size, size);
}

/// W^T W of one period of the graph or, if the graph has no period, the mean of W^T W over the
/// draws.
MixingMatrix contraction(const PeerGraph& graph, int size) {
  const long period = graph.period(size);
  if (period == PeerGraph::kAperiodic) {
    MixingMatrix sum = MixingMatrix::Zero(size, size);
    for (long t = 0; t < kDraws; ++t) {
      const MixingMatrix w = matrix(graph, size, t);
      sum += w.transpose() * w;
    }
    return sum / kDraws;
  }
  MixingMatrix product = MixingMatrix::Identity(size, size);
  for (long t = 0; t < period; ++t) product = matrix(graph, size, t) * product;
  return product.transpose() * product;
}

}  // namespace

std::vector<double> mixing_matrix(const PeerGraph& graph, int size, long step) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> w(n * n, 0);
  for (int rank = 0; rank < size; ++rank) {
    const Peers peers = graph.peers(rank, size, step);
    double* row = w.data() + static_cast<std::size_t>(rank) * n;
    row[rank] += peers.self_weight;
    for (const Peers::Source& source : peers.receive_from) row[source.rank] += source.weight;
  }
  return w;
}

double spectral_gap(const PeerGraph& graph, int size) {
  if (size == 1) return 1;
  const Eigen::SelfAdjointEigenSolver<MixingMatrix> solver(contraction(graph, size),
                                                           Eigen::EigenvaluesOnly);
  // Eigenvalues are in ascending order. The largest is 1; its eigenvector, in which all ranks are
  // equal, is the mean.
  const double second = solver.eigenvalues()[size - 2];
  return 1 - std::sqrt(std::max(0.0, second));
}

}  // namespace trigram
