#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/context.h"

namespace trigram {

/// One message of an activation: its destination, and the round of the tree to which it belongs.
struct ActivationHop {
  int dest;
  int round;
  bool operator==(const ActivationHop&) const = default;
};
/// The round of a rank that activates on its own.
inline constexpr int kOwnActivation = -1;

/// The messages that a rank sends when it is first activated, by `source` in `round` or on its own.
///
/// They form the union of the binomial trees rooted at each of the first 2^k ranks, where 2^k is
/// the largest power of two up to P. In round r partners differ in bit r, and a rank that was
/// reached in round r informs its partners of the rounds after r. Each rank beyond the power of two
/// is attached to one of the first ranks. One activator causes P-1 messages. Several concurrent
/// activators still reach all ranks, although each rank passes on only the first activation that it
/// receives. (For powers of two: WAGMA-SGD, arXiv 2005.00124, section 4.)
std::vector<ActivationHop> activation_hops(int rank, int size, int source, int round);

/// The wait-avoiding start of collectives, which are numbered from 0 (versions): the first rank
/// that is ready activates the next version on all ranks. It uses the control plane of an agent
/// stream; only that stream calls `await`. The rank's other streams announce their arrival with
/// `announce`.
///
/// A message for a version later than the awaited one means that the awaited version was activated,
/// too, even if its own messages have not arrived.
/// well, whatever has become of its own messages.
class Activation {
 public:
  static constexpr int kAnyRank = -1;   // initiator: the first rank to arrive
  static constexpr int kAllRanks = -2;  // no initiator: every rank awaits its own arrival
  /// Returns the rank that may activate a version, or one of the above; the same on all ranks.
  using Initiator = std::function<int(long version)>;

  explicit Activation(Initiator initiator) : initiator_(std::move(initiator)) {}

  /// Tells the agent with the control plane `agent` that its rank has arrived at `version`.
  static void announce(Control& agent, int rank, long version);

  /// Blocks until `version` is activated, and passes activations on. Returns false if the stream is
  /// closed first.
  bool await(const Context& ctx, long version);

 private:
  void hear(const Context& ctx, const Message& message);
  void activate(const Context& ctx, long version, int source, int round);

  Initiator initiator_;
  long arrived_ = -1, activated_ = -1;  // the highest version so far
};

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
