#include "algorithms/execution/exchange.h"

#include <utility>

namespace trigram {

CodecKey codec_key(const Context& ctx, std::uint64_t seed, Slot slot) {
  constexpr long kBuckets = 1 << 16;
  return {seed, ctx.world_rank, slot.step * kBuckets + slot.bucket};
}

void wait_on_host(Context ctx) {
  ctx.stream->synchronize();
  ctx.stream->charge({.bytes = 1, .kind = Cost::Kind::synchronization});
}

Exchange synchronized(Exchange exchange) {
  return [exchange = std::move(exchange)](Context ctx, const Tensor& x, Slot slot) {
    exchange(ctx, x, slot);
    wait_on_host(ctx);
  };
}

}  // namespace trigram
