#include <algorithm>
#include <array>
#include <functional>
#include <utility>

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

using Lengths = std::pair<std::size_t, std::size_t>;  // shortest, longest; priced bytes

Lengths lengths_of_parts(Context ctx, const Tensor& x) {
  const auto P = static_cast<std::size_t>(ctx.size());
  return {x.part(0, P).priced_nbytes(), longest_part(x, P).priced_nbytes()};
}

/// Calls `messages`, in which every rank sends bytes to the right in P-1 steps for each phase.
void around(Context ctx, std::array<Rounds::Phase, 2> phases, Lengths lengths, std::size_t bytes,
            bool valued, const std::function<void()>& messages) {
  const int rounds = phases[0].rounds + phases[1].rounds;
  if (rounds == 0 || !ctx.comm->couples()) return messages();
  const Rounds::Sent sent[] = {{right_of(ctx), static_cast<std::uint64_t>(rounds), bytes}};
  ctx.comm->coupled({.pattern = Rounds::ring,
                     .phases = phases,
                     .longest = lengths.second,
                     .shortest = lengths.first,
                     .sent = sent,
                     .valued = valued},
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
  around(ctx, {reducing(ctx, part, op)}, lengths_of_parts(ctx, x), all_but(ctx, x, ctx.rank()),
         valued(x), [&] { reduce_scatter(ctx, x, op); });
}

void ring_allgather(Context ctx, const Tensor& x) {
  if (!ctx.comm->couples()) return allgather(ctx, x);
  around(ctx, {{{ctx.size() - 1}}}, lengths_of_parts(ctx, x), all_but(ctx, x, right_of(ctx)),
         valued(x), [&] { allgather(ctx, x); });
}

void ring_allgather(Context ctx, std::span<const Tensor> parts) {
  const auto [shortest, longest] = std::ranges::minmax_element(parts, {}, &Tensor::priced_nbytes);
  const Lengths lengths = {shortest->priced_nbytes(), longest->priced_nbytes()};
  std::size_t bytes = 0;
  for (const Tensor& part : parts) bytes += part.priced_nbytes();
  bytes -= parts[static_cast<std::size_t>(right_of(ctx))].priced_nbytes();
  around(ctx, {{{ctx.size() - 1}}}, lengths, bytes, std::ranges::any_of(parts, valued), [&] {
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
  around(ctx, {reducing(ctx, part, op), {ctx.size() - 1}}, lengths_of_parts(ctx, x),
         all_but(ctx, x, ctx.rank()) + all_but(ctx, x, right_of(ctx)), valued(x), [&] {
           reduce_scatter(ctx, x, op);
           allgather(ctx, x);
         });
}

}  // namespace trigram
