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
/// The `round` of an activation that a rank starts itself.
inline constexpr int kOwnActivation = -1;

/// The messages that a rank sends when it is first activated: by a message from `source` in
/// `round`, or by itself (kOwnActivation).
///
/// From any activator, the messages form a binomial tree over the first 2^k ranks, where 2^k is the
/// largest power of two up to P. The partner of a rank in round r is the rank that differs from it
/// in bit r. A rank that was reached in round r informs its partners of all later rounds. Each rank
/// beyond the power of two is attached to one of the first ranks. One activator causes P-1
/// messages. Several concurrent activators still reach all ranks, although each rank passes on only
/// the first activation that it receives. (For powers of two: WAGMA-SGD, arXiv 2005.00124,
/// section 4.)
std::vector<ActivationHop> activation_hops(int rank, int size, int source, int round);

/// The wait-avoiding start of collectives. Collectives are numbered from 0, and the number is
/// called a version. The first rank that is ready activates the next version on all ranks.
/// Activation uses the control plane of an agent's stream, and only that stream calls `await`. The
/// rank's other streams announce their arrival with `announce`.
///
/// A message for a later version than the awaited version shows that the awaited version was
/// activated too, even if the messages for the awaited version have not arrived.
class Activation {
 public:
  static constexpr int kAnyRank = -1;  // as initiator: the first rank to arrive, whichever it is
  // As initiator: no rank activates the version; every agent waits until its own rank arrives.
  static constexpr int kAllRanks = -2;
  /// Returns the rank that may activate a version, or one of the two constants above. All ranks get
  /// the same result.
  using Initiator = std::function<int(long version)>;

  /// `first` is the first version to await.
  explicit Activation(Initiator initiator, long first = 0)
      : initiator_(std::move(initiator)), arrived_(first - 1), activated_(first - 1) {}

  /// Announces to the agent whose control plane is `agent` that its rank has arrived at `version`.
  static void announce(Control& agent, int rank, long version);

  /// Blocks until `version` is activated, and passes activations on. Returns false if the stream is
  /// closed first.
  bool await(const Context& ctx, long version);

 private:
  void handle(const Context& ctx, const Message& message);
  void activate(const Context& ctx, long version, int source, int round);

  Initiator initiator_;
  // The highest version at which this rank has arrived, and the highest activated version.
  long arrived_, activated_;
};

/// A sequence of collectives, each of which runs as soon as one rank is ready (the initiator; see
/// Activation), without waiting for the other ranks. The agent of each rank, on its own stream,
/// takes part in every version exactly once and in order, whether its worker has arrived by then or
/// not. Versions are numbered from 0, or from `first` in a later part of a run.
///
/// `execute` runs the collective: it takes the rank's contribution and stores the result. It shares
/// buffers with the worker, so it needs a mutex. It is copied into the agent's tasks, so it must
/// own everything it refers to, unless that outlives the world.
class PartialCollective {
 public:
  struct Plan {
    long versions = 0;  // the version at which the collectives end
    Activation::Initiator initiator;
    std::function<void(Context, long version)> execute;  // on the agent's stream
    long first = 0;
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
  long announced_;              // the latest announced version
};

}  // namespace trigram
