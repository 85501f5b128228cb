#pragma once

#include <functional>
#include <memory>

#include "algorithms/asynchronous/activation.h"

namespace trigram {

/// A sequence of collectives, each of which runs as soon as one rank is ready (the initiator; see
/// Activation), without waiting for the other ranks. The agent of each rank, on its own stream,
/// takes part in every version 0, 1, ... exactly once and in order, whether its worker has arrived
/// by then or not.
///
/// `execute` runs the collective: it takes the rank's contribution and stores the result. It shares
/// buffers with the worker, so it needs a mutex. It is copied into the agent's tasks, so it must
/// own everything it refers to, unless that outlives the world.
class PartialCollective {
 public:
  struct Plan {
    long versions = 0;
    Activation::Initiator initiator;
    std::function<void(Context, long version)> execute;  // on the agent's stream
  };
  /// Forks the agent's stream from that of ctx, the main stream. Collective.
  PartialCollective(Context ctx, const std::string& name, Plan plan);

  /// Announces that the worker has made its contribution to `version`. Versions must be announced
  /// in order without gaps, whether the earlier ones have run or not.
  void announce(Context ctx, long version);
  /// Blocks until `version`, which must be announced, has run.
  void wait(Context ctx, long version);
  /// Announces and waits.
  void arrive(Context ctx, long version);

 private:
  struct Agent;
  std::shared_ptr<Agent> agent_;
  std::unique_ptr<Stream> stream_;
  Control* control_ = nullptr;  // control plane of the agent's stream
  long announced_ = -1;         // the latest announced version
};

}  // namespace trigram
