#pragma once

#include <functional>
#include <memory>

#include "algorithms/peers/peer_graph.h"
#include "core/context.h"

namespace trigram {

/// Forms groups of ranks that have finished a step; a PathSearch decides on the groups. Ranks
/// report to rank 0, which owns the PathSearch, and rank 0 informs all members of a group, all on
/// the control plane. A rank in a group does nothing else until it has exchanged with its peers in
/// the group, and all ranks hear of their groups in the same order. So all ranks issue their data
/// operations in a consistent order, too.
///
/// The constructor forks a stream `desk` on every rank, for control messages to and from rank 0.
/// Rank 0 answers even while its own worker computes.
class GroupScheduler {
 public:
  /// Collective, on the main stream. `graph` must satisfy the requirements of PathSearch.
  GroupScheduler(Context ctx, const PeerGraph& graph);

  /// Called on the main stream when this rank has finished a step. Blocks until the rank is in a
  /// group. Returns the rank's neighbours in the group. Their weights are Metropolis weights: 1 /
  /// (1 + the larger number of such neighbours of the two ranks).
  Peers join(Context ctx);
  /// Called instead of `join` for the last step. Calls `exchange` for that group and for all later
  /// groups until every rank has finished its last step, since the edges between other ranks may
  /// lead through this rank.
  void join_until_end(Context ctx, const std::function<void(const Peers&)>& exchange);

 private:
  struct Agent;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<Work> loop_;
};

}  // namespace trigram
