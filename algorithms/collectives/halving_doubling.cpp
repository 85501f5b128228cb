#include "algorithms/collectives/halving_doubling.h"

#include <bit>
#include <type_traits>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {

static_assert(std::is_trivially_copyable_v<Fold>, "no list of P ranks for each of P ranks");

Fold::Fold(Context ctx) {
  const int P = ctx.size(), rank = ctx.rank();
  size_ = static_cast<int>(std::bit_floor(static_cast<unsigned>(P)));
  rest_ = P - size_;
  number_ = rank - rest_;
  if (rank < 2 * rest_) {
    number_ = rank % 2 == 0 ? -1 : rank / 2;
    partner_ = rank ^ 1;
  }
}

namespace {

/// The aligned group of `width` ranks that contains `rank`.
struct Group {
  Group(int rank, int width) : first(rank & ~(width - 1)), last(first + width) {}
  int first, last;
};

Tensor part_of(const PartRange& range, const Group& group) {
  return range(group.first, group.last);
}

}  // namespace

void halve(Context ctx, const Fold& fold, const PartRange& range, Reduce op) {
  for (int width = fold.size() / 2; width >= 1; width /= 2) {
    const int other = fold.number() ^ width, peer = fold.active(other);
    const Tensor mine = part_of(range, {fold.number(), width});
    const Scratch scratch(ctx, mine);
    const Tensor arrived = scratch.like(mine);
    send_receive(ctx, part_of(range, {other, width}), peer, arrived, peer);
    accumulate(ctx, op, arrived, mine);
  }
}

void double_up(Context ctx, const Fold& fold, const PartRange& range) {
  for (int width = 1; width < fold.size(); width *= 2) {
    const int other = fold.number() ^ width, peer = fold.active(other);
    send_receive(ctx, part_of(range, {fold.number(), width}), peer, part_of(range, {other, width}),
                 peer);
  }
}

void recursive_halving_reduce_scatter(Context ctx, const Tensor& x, Reduce op) {
  const Fold fold(ctx);
  const auto P = static_cast<std::size_t>(ctx.size());
  const Tensor mine = x.part(static_cast<std::size_t>(ctx.rank()), P);
  if (fold.folded()) {
    send(ctx, x, fold.partner());
    receive(ctx, mine, fold.partner());
    return finish_reduction(ctx, op, mine);
  }
  if (fold.partner() >= 0) {
    const Scratch scratch(ctx, x);
    receive(ctx, scratch.like(x), fold.partner());
    accumulate(ctx, op, scratch.like(x), x);
  }
  halve(
      ctx, fold,
      [&](int first, int last) {
        return x.parts(fold.first_rank(first), fold.first_rank(last), P);
      },
      op);
  if (fold.partner() >= 0)
    send(ctx, x.part(static_cast<std::size_t>(fold.partner()), P), fold.partner());
  finish_reduction(ctx, op, mine);
}

void recursive_doubling_allgather(Context ctx, const Tensor& x) {
  const Fold fold(ctx);
  const auto P = static_cast<std::size_t>(ctx.size());
  if (fold.folded()) {
    send(ctx, x.part(static_cast<std::size_t>(ctx.rank()), P), fold.partner());
    return receive(ctx, x, fold.partner());
  }
  if (fold.partner() >= 0)
    receive(ctx, x.part(static_cast<std::size_t>(fold.partner()), P), fold.partner());
  double_up(ctx, fold, [&](int first, int last) {
    return x.parts(fold.first_rank(first), fold.first_rank(last), P);
  });
  if (fold.partner() >= 0) send(ctx, x, fold.partner());
}

}  // namespace trigram
