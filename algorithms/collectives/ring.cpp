#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/exchange.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

int left_of(Context ctx) { return (ctx.rank() + ctx.size() - 1) % ctx.size(); }
int right_of(Context ctx) { return (ctx.rank() + 1) % ctx.size(); }

/// The longest of the parts of x, real and priced.
Tensor longest_part(const Tensor& x, std::size_t of) {
  return x.slice(0, (x.numel() + of - 1) / of, (x.priced_numel() + of - 1) / of);
}

/// P-1 steps; in step s the part that `owner` - s holds moves one rank to the right.
template <class Part>
void circulate(Context ctx, const Part& part, int owner) {
  const int P = ctx.size(), left = left_of(ctx), right = right_of(ctx);
  for (int s = 0; s < P - 1; ++s)
    send_receive(ctx, part((owner - s + P) % P), right, part((owner - s - 1 + P) % P), left);
}

}  // namespace

void ring_reduce_scatter(Context ctx, const Tensor& x, Reduce op) {
  const int P = ctx.size(), left = left_of(ctx), right = right_of(ctx);
  if (P == 1) return;
  auto part = [&](int i) {
    return x.part(static_cast<std::size_t>((i + P) % P), static_cast<std::size_t>(P));
  };
  const Scratch scratch(ctx, longest_part(x, static_cast<std::size_t>(P)));
  // Part r - 1 leaves first, so that the sum of part r completes at rank r.
  for (int s = 1; s < P; ++s) {
    const Tensor mine = part(ctx.rank() - s - 1 + P), arrived = scratch.like(mine);
    send_receive(ctx, part(ctx.rank() - s + P), right, arrived, left);
    accumulate(ctx, op, arrived, mine);
  }
  finish_reduction(ctx, op, part(ctx.rank()));
}

void ring_allgather(Context ctx, const Tensor& x) {
  const auto P = static_cast<std::size_t>(ctx.size());
  circulate(
      ctx, [&](int i) { return x.part(static_cast<std::size_t>(i), P); }, ctx.rank());
}

void ring_allgather(Context ctx, std::span<const Tensor> parts) {
  circulate(
      ctx, [&](int i) { return parts[static_cast<std::size_t>(i)]; }, ctx.rank());
}

void ring_allreduce(Context ctx, const Tensor& x, Reduce op) {
  ring_reduce_scatter(ctx, x, op);
  ring_allgather(ctx, x);
}

}  // namespace trigram
