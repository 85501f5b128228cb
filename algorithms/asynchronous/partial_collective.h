#pragma once

#include <functional>
#include <memory>

#include "algorithms/asynchronous/activation.h"

namespace trigram {

/// A sequence of collectives that run when some rank is ready, not when all ranks are. The agent of
/// each rank, on a stream of its own, takes part in every version 0, 1, ... exactly once and in
/// order, whether its worker has arrived by then or not.
///
/// `execute` defines the contribution and the use of the result. It shares buffers with the worker,
/// so it needs a mutex. It is copied into the agent's tasks: everything it refers to must be owned
/// by it or outlive the world.
class PartialCollective {
 public:
  struct Plan {
    long versions = 0;
    Activation::Initiator initiator;
    std::function<void(Context, long version)> execute;  // on the agent's stream
  };
  /// Forks the agent's stream from that of ctx, the main stream. Collective.
  PartialCollective(Context ctx, const std::string& name, Plan plan);

  /// The worker has made its contribution to `version`. Versions must be announced in order without
  /// gaps, whether the earlier ones have run or not.
  void announce(Context ctx, long version);
  /// Returns when `version`, which must be announced, has run; immediately if it ran earlier.
  void wait(Context ctx, long version);
  /// Announces and waits.
  void arrive(Context ctx, long version);

 private:
  struct Agent;
  std::shared_ptr<Agent> agent_;
  std::unique_ptr<Stream> stream_;
  Control* control_ = nullptr;  // the agent's
  long announced_ = -1;         // the latest version
};

}  // namespace trigram
