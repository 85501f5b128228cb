#pragma once

#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

/// Decides which ranks average when ranks step at their own pace (Pathsearch of DSGD-AAU, arXiv
/// 2306.06559). Rank 0 keeps this record of the ranks that have finished a step, and of the
/// accepted edges.
///
/// An iteration ends when an edge of the graph between two finished ranks can be accepted. An edge
/// can be accepted if the edges accepted so far do not yet connect its two ends. All ranks that
/// have finished by then are in the iteration. When the accepted edges connect all ranks, after P-1
/// edges, the search restarts. So all models mix within a bounded number of iterations, and once
/// all ranks have finished there is always an edge to accept.
class PathSearch {
 public:
  /// `graph` must be undirected, connected and the same in every step.
  PathSearch(const PeerGraph& graph, int ranks);

  /// Records that `rank` has finished a step; it is in the next iteration that ends. If this lets
  /// an edge be accepted, the iteration ends: returns its ranks, ascending. Otherwise returns an
  /// empty list.
  std::vector<int> finish(int rank);
  /// The same for the last step of `rank`, which is in all iterations from then on.
  std::vector<int> finish_last(int rank);
  /// The neighbours of `rank` in the graph.
  const std::vector<int>& neighbours(int rank) const { return neighbours_[at(rank)]; }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  bool accept_edges();
  void join(int part, int other);

  std::vector<std::vector<int>> neighbours_;
  std::vector<bool> finished_, stays_;
  std::vector<int> part_;  // by rank; equal for ranks that accepted edges connect
  int parts_;
};

}  // namespace trigram
