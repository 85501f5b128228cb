#pragma once

#include <array>
#include <memory>
#include <vector>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/primitives/push_sum_state.h"

namespace trigram {

/// Push-sum of a part of the model, with messages that are in flight while the owner of the part
/// continues. A sent share is subtracted from the sender's state immediately, and added to the
/// receiver's state when it is received. So the sums of x and w over all states and all messages in
/// flight are conserved.
class DelayedPush {
 public:
  /// Starts the state at x = z, w = 1. At most one push may be in flight when the next one begins.
  /// Memory: three times z, and once more for every peer during a push.
  DelayedPush(Context ctx, const Tensor& z);

  /// Divides the state equally between this rank and the ranks that `peers` sends to, and begins to
  /// send on `comm`. All ranks call it equally often, each time with the peers of one step.
  void push(Context ctx, Stream& comm, const Peers& peers);
  /// Waits for the oldest pushes and adds what other ranks sent in them, until only `under_way`
  /// pushes are in flight.
  void receive_until(Context ctx, long under_way);

  const PushSumState& state() const { return state_; }

 private:
  struct Push {
    Tensor share;  // the data to send; after the push, the sum of all received shares
    std::shared_ptr<Work> work;
  };
  Push& at(long push) { return pushes_[static_cast<std::size_t>(push) % pushes_.size()]; }

  PushSumState state_;
  std::array<Push, 2> pushes_;  // push i uses element i mod 2
  long begun_ = 0, taken_ = 0;
};

}  // namespace trigram
