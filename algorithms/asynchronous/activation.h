#pragma once

#include <functional>
#include <vector>

#include "core/context.h"

namespace trigram {

/// One message of an activation: to whom, and the round of the tree that it belongs to.
struct ActivationHop {
  int dest;
  int round;
  bool operator==(const ActivationHop&) const = default;
};
/// The round of a rank that activates by itself.
inline constexpr int kOwnActivation = -1;

/// Whom a rank tells when it is first activated, by `source` in `round`, or by itself.
///
/// The union of the binomial trees rooted at each of the largest power of two of the P ranks: in
/// round r partners differ in bit r, and who was reached in round r tells its partners of the
/// rounds after r. Each rank beyond the power of two hangs on one within it. One activator makes
/// P-1 messages; several at once still reach everybody, though each rank passes on only the first
/// activation that it hears of. (For powers of two: WAGMA-SGD, arXiv 2005.00124, section 4.)
std::vector<ActivationHop> activation_hops(int rank, int size, int source, int round);

/// The wait-avoiding start of collectives that are numbered from 0 on (versions): whoever is ready
/// first activates the next one on all ranks. On the control plane of an agent stream, which alone
/// calls `await`; the rank's other streams announce it with `announce`.
///
/// A message for a later version than the one that is awaited says that this one was activated as
/// well, whatever has become of its own messages.
class Activation {
 public:
  static constexpr int kAnyRank = -1;   // as an initiator: whoever is first
  static constexpr int kAllRanks = -2;  // nobody: every rank awaits its own arrival
  /// The rank that may activate a version, or one of the above; the same on all ranks.
  using Initiator = std::function<int(long version)>;

  explicit Activation(Initiator initiator) : initiator_(std::move(initiator)) {}

  /// Tells the agent whose control plane is `agent` that its rank has arrived at `version`.
  static void announce(Control& agent, int rank, long version);

  /// Blocks until `version` is activated, and passes activations on. False when the stream is
  /// closed first.
  bool await(const Context& ctx, long version);

 private:
  void hear(const Context& ctx, const Message& message);
  void activate(const Context& ctx, long version, int source, int round);

  Initiator initiator_;
  long arrived_ = -1, activated_ = -1;  // the highest version yet
};

}  // namespace trigram
