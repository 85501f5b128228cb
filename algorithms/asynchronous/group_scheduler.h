#pragma once

#include <functional>
#include <memory>

#include "algorithms/peers/peer_graph.h"
#include "core/context.h"

namespace trigram {

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
