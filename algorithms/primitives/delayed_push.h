#pragma once

#include <array>
#include <memory>
#include <vector>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/primitives/push_sum_state.h"

namespace trigram {

/// Push-sum of a part of the model whose messages are in flight while its owner continues. What is
/// sent is subtracted from the state immediately and added to the receiver's when received, so the
/// sums of x and w over all states and all messages in flight are conserved.
class DelayedPush {
 public:
  /// Starts at `z`; no more than one push is under way when the next begins. Memory: three times
  /// z, and once more for every peer while a push lasts.
  DelayedPush(Context ctx, const Tensor& z);

  /// Splits the state equally between the own rank and those that `peers` sends to, and begins to
  /// push on `comm`. The same number of pushes on all ranks, each with the peers of one step.
  void push(Context ctx, Stream& comm, const Peers& peers);
  /// Adds what others have sent in the oldest pushes, waiting for it, until only `under_way` are
  /// left.
  void receive_until(Context ctx, long under_way);

  const PushSumState& state() const { return state_; }

 private:
  struct Push {
    Tensor share;  // that is sent; then the sum of those of others
    std::shared_ptr<Work> work;
  };
  Push& at(long push) { return pushes_[static_cast<std::size_t>(push) % pushes_.size()]; }

  PushSumState state_;
  std::array<Push, 2> pushes_;  // by number, in turn
  long begun_ = 0, taken_ = 0;
};

}  // namespace trigram
