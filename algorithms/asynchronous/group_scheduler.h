#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "algorithms/peers/peer_graph.h"
#include "core/context.h"

namespace trigram {

/// Decides which ranks average when ranks step at their own pace (Pathsearch of DSGD-AAU, arXiv
/// 2306.06559): rank 0's record of the ranks that have finished a step, and of the accepted edges.
///
/// An iteration ends when an edge of the graph between two finished ranks can be accepted, that is,
/// when the accepted edges do not connect its ends yet. All ranks that have finished by then are in
/// the iteration. When all ranks are connected, after P-1 edges, the search restarts. So all models
/// mix within a bounded number of iterations, and once all ranks have finished there is always an
/// edge to accept.
class PathSearch {
 public:
  /// `graph` must be undirected, connected and the same in every step.
  PathSearch(const PeerGraph& graph, int ranks);

  /// `rank` has finished a step and is in the next iteration. Returns the ranks of the iteration
  /// that this ends, ascending; empty if no edge can be accepted yet.
  std::vector<int> finish(int rank);
  /// The same for its last step: `rank` is in all iterations from now on.
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

/// Forms groups of ranks that have finished a step, as a PathSearch decides. It uses the control
/// plane: ranks report to rank 0, which owns the PathSearch, and rank 0 informs all members of a
/// group. A rank in a group does nothing else until it has exchanged with its peers in the group,
/// and all ranks hear of their groups in the same order; so all data operations are in a consistent
/// order, too.
///
/// The constructor forks a stream `desk` on every rank, for control messages to and from rank 0.
/// Rank 0 answers even while its own worker computes.
class GroupScheduler {
 public:
  /// Collective, on the main stream. `graph` must satisfy the requirements of PathSearch.
  GroupScheduler(Context ctx, const PeerGraph& graph);

  /// On the main stream: this rank has finished a step. Returns when the rank is in a group. The
  /// returned peers are its neighbours in the group, with Metropolis weights 1 / (1 + the larger
  /// number of such peers of the two ranks).
  Peers join(Context ctx);
  /// The same for the last step. Calls `exchange` for that group and for all later groups until
  /// every rank has finished its last step, since other ranks may need this rank to be connected.
  void join_until_end(Context ctx, const std::function<void(const Peers&)>& exchange);

 private:
  struct Agent;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<Work> loop_;
};

}  // namespace trigram
