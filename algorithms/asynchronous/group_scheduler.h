#pragma once

#include <functional>
#include <memory>

#include "algorithms/peers/peer_graph.h"
#include "core/context.h"

namespace trigram {

/// Groups of ranks that have finished a step, which come about as a PathSearch says. On the control
/// plane: ranks tell rank 0, which keeps the book, and it tells all members of a group. A rank in a
/// group does nothing else until it has met its peers there, and all ranks hear of their groups in
/// one order; so all data operations are in one order, too.
///
/// Every rank has a stream `desk`, forked here, on which control messages go to and from rank 0:
/// its book is open while its own worker computes.
class GroupScheduler {
 public:
  /// Collective, on the main stream. `graph` is as PathSearch needs it.
  GroupScheduler(Context ctx, const PeerGraph& graph);

  /// On the main stream: the rank has finished a step. Returns when it is in a group: its peers are
  /// its neighbours in it, with Metropolis weights 1 / (1 + the larger number of such peers of the
  /// two).
  Peers join(Context ctx);
  /// The same of the last step: calls `meet` for that group and for all that come until every rank
  /// has finished its last step, for others may need this rank to be connected.
  void join_to_the_end(Context ctx, const std::function<void(const Peers&)>& meet);

 private:
  struct Desk;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Desk> desk_;
  std::shared_ptr<Work> loop_;
};

}  // namespace trigram
