#pragma once

#include <functional>
#include <memory>

#include "algorithms/peers/peer_graph.h"
#include "core/context.h"

namespace trigram {

/// Groups of ranks that have finished a step, which come about as a PathSearch says. On the control
/// plane: ranks tell rank 0, which owns the PathSearch, and it tells all members of a group. A rank
/// in a group does nothing else until it has exchanged with its peers there, and all ranks hear of
/// their groups in one order; so all data operations are in one order, too.
///
/// The constructor forks a stream `desk` on every rank, for control messages to and from rank 0,
/// which answers even while its own worker computes.
class GroupScheduler {
 public:
  /// Collective, on the main stream. `graph` is as PathSearch needs it.
  GroupScheduler(Context ctx, const PeerGraph& graph);

  /// On the main stream: the rank has finished a step. Returns when it is in a group: its peers are
  /// its neighbours in it, with Metropolis weights 1 / (1 + the larger number of such peers of the
  /// two).
  Peers join(Context ctx);
  /// The same of the last step: calls `exchange` for that group and for all that come until every
  /// rank has finished its last step, for others may need this rank to be connected.
  void join_until_end(Context ctx, const std::function<void(const Peers&)>& exchange);

 private:
  struct Agent;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<Work> loop_;
};

}  // namespace trigram
