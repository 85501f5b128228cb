#include "algorithms/collectives/halving_doubling.h"

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/exchange.h"
#include "algorithms/collectives/fold.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// The aligned group of `width` ranks that `rank` is in.
struct Group {
  Group(int rank, int width) : first(rank & ~(width - 1)), last(first + width) {}
  int first, last;
};

Tensor of(const Stretch& stretch, const Group& group) { return stretch(group.first, group.last); }

}  // namespace

void halve(Context ctx, const Stretch& stretch, Reduce op) {
  for (int width = ctx.size() / 2; width >= 1; width /= 2) {
    const int peer = ctx.rank() ^ width;
    const Tensor mine = of(stretch, {ctx.rank(), width});
    const Scratch scratch(ctx, mine);
    const Tensor arrived = scratch.like(mine);
    send_receive(ctx, of(stretch, {peer, width}), peer, arrived, peer);
    accumulate(ctx, op, arrived, mine);
  }
}

void double_up(Context ctx, const Stretch& stretch) {
  for (int width = 1; width < ctx.size(); width *= 2) {
    const int peer = ctx.rank() ^ width;
    send_receive(ctx, of(stretch, {ctx.rank(), width}), peer, of(stretch, {peer, width}), peer);
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
  Subset active(*ctx.comm, fold.active());
  halve(
      ctx.with(active),
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
  Subset active(*ctx.comm, fold.active());
  double_up(ctx.with(active), [&](int first, int last) {
    return x.parts(fold.first_rank(first), fold.first_rank(last), P);
  });
  if (fold.partner() >= 0) send(ctx, x, fold.partner());
}

}  // namespace trigram
