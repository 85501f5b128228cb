#include "algorithms/primitives/push_sum.h"

#include "algorithms/primitives/primitives.h"

namespace trigram {

DelayedPush::DelayedPush(Context ctx, const Tensor& z, const TrainingState& kept)
    : state_(*ctx.device, z, kept) {
  for (Push& push : pushes_) push.share = ctx.device->empty_like(state_.xw);
}

void DelayedPush::push(Context ctx, Stream& comm, const Peers& peers) {
  const float share = 1 / static_cast<float>(peers.send_to.size() + 1);
  ctx.device->axpby(share, state_.xw, 0, state_.xw);
  Push& push = at(begun_++);
  ctx.device->copy(push.share, state_.xw);
  push.work =
      comm.submit(ctx, [sent = push.share, peers](Context c) { sum_of_sent(c, sent, peers); });
}

void DelayedPush::receive_until(Context ctx, long in_flight) {
  for (; begun_ - taken_ > in_flight; ++taken_) {
    ctx.stream->wait(*at(taken_).work);
    ctx.device->axpby(1, at(taken_).share, 1, state_.xw);
  }
}

}  // namespace trigram
