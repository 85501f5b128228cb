#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "algorithms/peers/peer_graph.h"
#include "core/context.h"

namespace trigram {

/// Decides which ranks average if ranks step at their own pace (Pathsearch of DSGD-AAU, arXiv
/// 2306.06559). Rank 0 records here which ranks have finished a step, and which edges are accepted.
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

  std::vector<std::vector<int>> neighbours_;
  std::vector<bool> finished_, finished_last_;
  std::vector<int> component_;  // by rank; equal for ranks that accepted edges connect
  int components_;              // number of different components
};

/// Forms groups of ranks that have finished a step; a PathSearch decides on the groups. Ranks
/// report to rank 0, which owns the PathSearch, and rank 0 informs all members of a group, all on
/// the control plane. A rank in a group does nothing else until it has exchanged with its peers in
/// the group, and all ranks learn of their groups in the same order. So all ranks issue their data
/// operations in a consistent order, too.
///
/// The constructor forks a stream `desk` on every rank, for control messages to and from rank 0.
/// Rank 0 answers even while its own worker computes.
class GroupScheduler {
 public:
  /// Collective, on the main stream. `graph` must satisfy the requirements of PathSearch.
  GroupScheduler(Context ctx, const PeerGraph& graph);

  /// Called on the main stream when this rank has finished a step. Blocks until the rank is in a
  /// group. Returns the rank's neighbours in the group with Metropolis weights: the weight of an
  /// edge is 1 / (1 + d), where d is the larger number of such neighbours of its two ends.
  Peers join(Context ctx);
  /// Called instead of `join` for the last step. Calls `exchange` for the group of that step and
  /// for all later groups with this rank, until every rank has finished its last step: paths
  /// between other ranks may lead through this rank.
  void join_until_end(Context ctx, const std::function<void(const Peers&)>& exchange);

 private:
  struct Agent;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<Work> loop_;
};

}  // namespace trigram
