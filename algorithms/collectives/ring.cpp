#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/exchange.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

int left_of(Context ctx) { return (ctx.rank() + ctx.size() - 1) % ctx.size(); }
int right_of(Context ctx) { return (ctx.rank() + 1) % ctx.size(); }

bool valued(const Tensor& x) { return !x.is_phantom(); }

/// P-1 steps; in step s the part that `owner` - s holds moves one rank to the right.
template <class Part>
void circulate(Context ctx, const Part& part, int owner) {
  const int P = ctx.size(), left = left_of(ctx), right = right_of(ctx);
  for (int s = 0; s < P - 1; ++s)
    send_receive(ctx, part((owner - s + P) % P), right, part((owner - s - 1 + P) % P), left);
}

/// Bytes of all parts of x but one.
std::size_t all_but(Context ctx, const Tensor& x, int part) {
  const auto P = static_cast<std::size_t>(ctx.size());
  return x.priced_nbytes() - x.part(static_cast<std::size_t>(part), P).priced_nbytes();
}

using PartBytes = std::function<std::size_t(std::size_t)>;

PartBytes parts_of(Context ctx, const Tensor& x) {
  const auto P = static_cast<std::size_t>(ctx.size());
  return [x, P](std::size_t i) { return x.part(i, P).priced_nbytes(); };
}

/// Parts that go around, of which rank r sends part r + `first` at first, and `bytes` in all.
struct Around {
  std::array<Rounds::Phase, 2> phases;
  PartBytes part_nbytes;
  int first;
  std::size_t bytes;
  bool valued;
};

/// Calls `messages`, in which every rank sends to the right in P-1 steps for each phase.
void around(Context ctx, Around parts, const std::function<void()>& messages) {
  const int rounds = parts.phases[0].rounds + parts.phases[1].rounds;
  if (rounds == 0 || !ctx.comm->couples()) return messages();
  const Rounds::Sent sent[] = {{right_of(ctx), static_cast<std::uint64_t>(rounds), parts.bytes}};
  ctx.comm->coupled({.pattern = Rounds::ring,
                     .phases = parts.phases,
                     .part_nbytes = std::cref(parts.part_nbytes),
                     .first_part = parts.first,
                     .sent = sent,
                     .valued = parts.valued},
                    messages);
}

/// The steps of a reduce-scatter, and what is computed in them.
Rounds::Phase reducing(Context ctx, const Tensor& part, Reduce op) {
  return {ctx.size() - 1, accumulation_cost(op, part), finish_cost(op, part)};
}

void reduce_scatter(Context ctx, const Tensor& x, Reduce op) {
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

void allgather(Context ctx, const Tensor& x) {
  const auto P = static_cast<std::size_t>(ctx.size());
  circulate(
      ctx, [&](int i) { return x.part(static_cast<std::size_t>(i), P); }, ctx.rank());
}

}  // namespace

void ring_reduce_scatter(Context ctx, const Tensor& x, Reduce op) {
  if (!ctx.comm->couples()) return reduce_scatter(ctx, x, op);
  const Tensor part = longest_part(x, static_cast<std::size_t>(ctx.size()));
  around(ctx,
         {{reducing(ctx, part, op)}, parts_of(ctx, x), -1, all_but(ctx, x, ctx.rank()), valued(x)},
         [&] { reduce_scatter(ctx, x, op); });
}

void ring_allgather(Context ctx, const Tensor& x) {
  if (!ctx.comm->couples()) return allgather(ctx, x);
  around(ctx,
         {{{{ctx.size() - 1}}}, parts_of(ctx, x), 0, all_but(ctx, x, right_of(ctx)), valued(x)},
         [&] { allgather(ctx, x); });
}

void ring_allgather(Context ctx, std::span<const Tensor> parts) {
  std::vector<std::size_t> nbytes;
  for (const Tensor& part : parts) nbytes.push_back(part.priced_nbytes());
  const std::size_t bytes = std::accumulate(nbytes.begin(), nbytes.end(), std::size_t{0}) -
                            nbytes[static_cast<std::size_t>(right_of(ctx))];
  around(ctx,
         {{{{ctx.size() - 1}}},
          [nbytes](std::size_t i) { return nbytes[i]; },
          0,
          bytes,
          std::ranges::any_of(parts, valued)},
         [&] {
           circulate(
               ctx, [&](int i) { return parts[static_cast<std::size_t>(i)]; }, ctx.rank());
         });
}

void ring_allreduce(Context ctx, const Tensor& x, Reduce op) {
  if (!ctx.comm->couples()) {
    reduce_scatter(ctx, x, op);
    return allgather(ctx, x);
  }
  const Tensor part = longest_part(x, static_cast<std::size_t>(ctx.size()));
  around(ctx,
         {{reducing(ctx, part, op), {ctx.size() - 1}},
          parts_of(ctx, x),
          -1,
          all_but(ctx, x, ctx.rank()) + all_but(ctx, x, right_of(ctx)),
          valued(x)},
         [&] {
           reduce_scatter(ctx, x, op);
           allgather(ctx, x);
         });
}

}  // namespace trigram
