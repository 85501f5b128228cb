#pragma once

#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

/// Who averages with whom when ranks take steps at their own pace (Pathsearch of DSGD-AAU, arXiv
/// 2306.06559): rank 0's book of ranks that have finished a step, and of accepted edges.
///
/// An iteration ends when an edge of the graph between two ranks that have finished can be
/// accepted: one whose ends no accepted edges connect yet. All that have finished then are in it.
/// When all ranks are connected, after P-1 edges, the search begins anew: so all models mix within
/// a bounded number of iterations, and once all have finished there is always such an edge.
class PathSearch {
 public:
  /// `graph` is undirected, connected and the same in every step.
  PathSearch(const PeerGraph& graph, int ranks);

  /// `rank` has finished a step; it is in the iteration that comes next. Returns the ranks of an
  /// iteration that this ends, ascending; empty where there is nothing to accept yet.
  std::vector<int> finish(int rank);
  /// The same, of its last step: `rank` is in all iterations from now on.
  std::vector<int> finish_last(int rank);
  /// The ranks that `rank` has an edge to.
  const std::vector<int>& neighbours(int rank) const { return neighbours_[at(rank)]; }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  bool accept_edges();
  void join(int part, int other);

  std::vector<std::vector<int>> neighbours_;
  std::vector<bool> finished_, stays_;
  std::vector<int> part_;  // equal for ranks that accepted edges connect
  int parts_;
};

}  // namespace trigram
