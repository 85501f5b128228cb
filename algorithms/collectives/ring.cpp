#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/pricing.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// P-1 rounds. In round s rank r sends part r-s to its right neighbour and receives part r-s-1.
template <class Part>
void circulate(Context ctx, const Part& part) {
  const int P = ctx.size(), r = ctx.rank(), left = (r + P - 1) % P, right = (r + 1) % P;
  for (int s = 0; s < P - 1; ++s)
    send_receive(ctx, part((r - s + P) % P), right, part((r - s - 1 + P) % P), left);
}

void reduce_scatter(Context ctx, const Tensor& x, Reduce op) {
  const int P = ctx.size(), left = (ctx.rank() + P - 1) % P, right = (ctx.rank() + 1) % P;
  if (P == 1) return;
  auto part = [&](int i) {
    return x.part(static_cast<std::size_t>((i + P) % P), static_cast<std::size_t>(P));
  };
  const Scratch scratch(ctx, longest_part(x, static_cast<std::size_t>(P)));
  // Rank r sends part r - 1 first, so that rank r completes the sum of part r.
  for (int s = 1; s < P; ++s) {
    const Tensor mine = part(ctx.rank() - s - 1 + P), arrived = scratch.like(mine);
    send_receive(ctx, part(ctx.rank() - s + P), right, arrived, left);
    accumulate(ctx, op, arrived, mine);
  }
  finish_reduction(ctx, op, part(ctx.rank()));
}

void allgather(Context ctx, const Tensor& x) {
  const auto P = static_cast<std::size_t>(ctx.size());
  circulate(ctx, [&](int i) { return x.part(static_cast<std::size_t>(i), P); });
}

}  // namespace

void ring_reduce_scatter(Context ctx, const Tensor& x, Reduce op) {
  run_as_ring_reduce_scatter(ctx, x, op, [&] { reduce_scatter(ctx, x, op); });
}

void ring_allgather(Context ctx, const Tensor& x) {
  run_as_ring_allgather(ctx, x, [&] { allgather(ctx, x); });
}

void ring_allgather(Context ctx, std::span<const Tensor> parts) {
  const auto part = [&](int i) { return parts[static_cast<std::size_t>(i)]; };
  run_as_ring_allgather(ctx, parts, [&] { circulate(ctx, part); });
}

void ring_allreduce(Context ctx, const Tensor& x, Reduce op) {
  run_as_ring_allreduce(ctx, x, op, [&] {
    reduce_scatter(ctx, x, op);
    allgather(ctx, x);
  });
}

}  // namespace trigram
