#pragma once

#include <array>
#include <memory>
#include <vector>

#include "algorithms/peers/peer_graph.h"
#include "core/context.h"
#include "core/training_state.h"

namespace trigram {

/// The push-sum state of a part of the model (arXiv 1811.10792): x and its weight w, which travel
/// together. z = x / w is the estimate of the mean.
struct PushSumState {
  /// The state that `kept` keeps, at first x = z, w = 1.
  PushSumState(Device& device, const Tensor& z, const TrainingState& kept)
      : xw(kept.tensor("xw", [&] { return start(device, z); })),
        x(xw.slice(0, z.numel(), z.priced_numel())),
        w(xw.slice(z.numel(), 1, 1)) {}
  /// z = x / w. Copies w to the host.
  void estimate(Device& device, const Tensor& z) const {
    const double weight = device.norm2(w);  // w > 0
    device.axpby(static_cast<float>(1 / weight), x, 0, z);
  }

  Tensor xw, x, w;  // x and w, side by side in one tensor; and each of them

 private:
  static Tensor start(Device& device, const Tensor& z) {
    const Tensor xw = device.empty(z.numel() + 1, DType::f32, z.priced_numel() + 1);
    device.copy(xw.slice(0, z.numel(), z.priced_numel()), z);
    device.fill(xw.slice(z.numel(), 1, 1), 1);
    return xw;
  }
};

/// Push-sum of a part of the model whose messages are in flight while its owner continues. The data
/// sent are subtracted from the sender's state immediately and added to the receiver's state when
/// received, so the sums of x and w over all states and all messages in flight are conserved.
class DelayedPush {
 public:
  /// Starts at `z`, or continues from the state that `kept` keeps. At most one push may be in
  /// flight when the next one begins. Memory: three times z, and once more for every peer during a
  /// push.
  DelayedPush(Context ctx, const Tensor& z, const TrainingState& kept);

  /// Divides the state equally between this rank and the ranks that `peers` sends to, and begins to
  /// send on `comm`. All ranks call it equally often, each time with the peers of one step.
  void push(Context ctx, Stream& comm, const Peers& peers);
  /// Waits for the oldest pushes and adds the data that other ranks sent in them, until only
  /// `in_flight` pushes are in flight.
  void receive_until(Context ctx, long in_flight);

  const PushSumState& state() const { return state_; }

 private:
  struct Push {
    Tensor share;  // the data to send; after the push, the sum of the received shares
    std::shared_ptr<Work> work;
  };
  Push& at(long push) { return pushes_[static_cast<std::size_t>(push) % pushes_.size()]; }

  PushSumState state_;
  std::array<Push, 2> pushes_;  // by number, in turn
  long begun_ = 0, taken_ = 0;
};

}  // namespace trigram
