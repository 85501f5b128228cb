#include "algorithms/primitives/push_sum.h"

#include "algorithms/primitives/primitives.h"

namespace trigram {

DelayedPush::DelayedPush(Context ctx, const Tensor& z) : state_(*ctx.device, z) {
  for (Push& push : pushes_) push.share = ctx.device->empty_like(state_.both);
}

void DelayedPush::push(Context ctx, Stream& comm, const Peers& peers) {
  const float share = 1 / static_cast<float>(peers.send_to.size() + 1);
  ctx.device->axpby(share, state_.both, 0, state_.both);
  Push& push = at(begun_++);
  ctx.device->copy(push.share, state_.both);
  push.work =
      comm.submit(ctx, [sent = push.share, peers](Context c) { sum_of_sent(c, sent, peers); });
}

void DelayedPush::receive_until(Context ctx, long under_way) {
  for (; begun_ - taken_ > under_way; ++taken_) {
    ctx.stream->wait(*at(taken_).work);
    ctx.device->axpby(1, at(taken_).share, 1, state_.both);
  }
}

}  // namespace trigram
