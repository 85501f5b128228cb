#pragma once

#include <array>
#include <memory>
#include <vector>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/primitives/push_sum_state.h"

namespace trigram {

/// Push-sum of a part of the model whose messages are under way while its owner goes on: what is
/// sent has left the mass at once, and joins that of others when they take it in. So the sums of x
/// and w over all masses, and over what is under way, stay what they are.
class DelayedPush {
 public:
  /// Starts at `z`; no more than one push is under way when the next begins. Memory: three times
  /// z, and once more for every peer while a push lasts.
  DelayedPush(Context ctx, const Tensor& z);

  /// Parts the mass equally between the own rank and those that `peers` sends to, and begins to
  /// push on `comm`. The same number of pushes on all ranks, each with the peers of one step.
  void push(Context ctx, Stream& comm, const Peers& peers);
  /// Adds what others have sent in the oldest pushes, waiting for it, until only `under_way` are
  /// left.
  void take_in(Context ctx, long under_way);

  const PushSumState& mass() const { return mass_; }

 private:
  struct Push {
    Tensor share;  // that is sent; then the sum of those of others
    std::shared_ptr<Work> work;
  };
  Push& at(long push) { return pushes_[static_cast<std::size_t>(push) % pushes_.size()]; }

  PushSumState mass_;
  std::array<Push, 2> pushes_;  // by number, in turn
  long begun_ = 0, taken_ = 0;
};

}  // namespace trigram
