#pragma once

#include <functional>
#include <memory>

#include "algorithms/asynchronous/activation.h"

namespace trigram {

/// A sequence of collectives that run when some rank is ready, not when all are. An agent of each
/// rank, on a stream of its own, takes part in every version 0, 1, ... exactly once and in order,
/// whether its worker has arrived by then or not.
///
/// What is contributed and what becomes of the result is `execute`'s matter; it shares buffers with
/// the worker, and so a mutex. It is copied into the agent's tasks: what it refers to must be owned
/// by it, or outlive the world.
class PartialCollective {
 public:
  struct Plan {
    long versions = 0;
    Activation::Initiator initiator;
    std::function<void(Context, long version)> execute;  // on the agent's stream
  };
  /// Forks the agent's stream from ctx's, the main stream. Collective.
  PartialCollective(Context ctx, const std::string& name, Plan plan);

  /// The worker has contributed what it had for `version`. Versions are announced in order, none
  /// left out, whether those before have run or not.
  void announce(Context ctx, long version);
  /// Returns when a version that was announced has run, which may be long ago.
  void wait(Context ctx, long version);
  /// Both.
  void arrive(Context ctx, long version);

 private:
  struct Agent;
  std::shared_ptr<Agent> agent_;
  std::unique_ptr<Stream> stream_;
  Control* control_ = nullptr;  // the agent's
  long announced_ = -1;         // the latest version
};

}  // namespace trigram
