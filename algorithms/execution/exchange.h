#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/algorithm.h"

namespace trigram {

/// Identifies one exchange of a run: the bucket's index (0 for a whole model) and the step.
struct Slot {
  int bucket = 0;
  long step = 0;
};

/// Replaces a tensor by a result that the ranks of ctx.comm compute together from their tensors,
/// such as the mean. It runs on a communication stream. It is copied into the stream's tasks and
/// may outlive the caller's frame, so everything that it refers to must outlive that frame, too.
using Exchange = std::function<void(Context, const Tensor&, Slot)>;

/// The random key of a codec that a rank uses for one exchange. An exchange with several codecs
/// numbers them, from 0 to 15.
inline CodecKey codec_key(const Context& ctx, std::uint64_t seed, Slot slot, int number = 0) {
  constexpr long kBuckets = 1L << 16, kUses = 1L << 52;
  return {seed, ctx.world_rank, number * kUses + slot.step * kBuckets + slot.bucket};
}

/// Works that belong together, such as the exchanges of all buckets.
using WorkList = std::vector<std::shared_ptr<Work>>;
/// Makes the stream of ctx wait for all `works`.
inline void wait_for(Context ctx, const WorkList& works) {
  for (const auto& work : works) ctx.stream->wait(*work);
}

/// Makes the host wait for its stream before it launches anything else. Simulated time includes the
/// return to the host, which no other work hides (Cost::Kind::synchronization).
inline void wait_on_host(Context ctx) {
  ctx.stream->synchronize();
  ctx.stream->charge({.bytes = 1, .kind = Cost::Kind::synchronization});
}

/// The same exchange, after which the host waits for its stream.
inline Exchange synchronized(Exchange exchange) {
  return [exchange = std::move(exchange)](Context ctx, const Tensor& x, Slot slot) {
    exchange(ctx, x, slot);
    wait_on_host(ctx);
  };
}

}  // namespace trigram
