#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/exchange.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// Ranks relative to the root, so that the root is 0.
struct Rooted {
  Rooted(Context ctx, int root_rank)
      : size(ctx.size()), root(root_rank), self((ctx.rank() - root_rank + size) % size) {}
  int world(int relative) const { return (relative + root) % size; }
  int size, root, self;
};

}  // namespace

void binomial_broadcast(Context ctx, const Tensor& x, int root) {
  const Rooted tree(ctx, root);
  int subtree = 1;  // ranks below self, itself included, up to the lowest bit set in self
  while (subtree < tree.size && !(tree.self & subtree)) subtree *= 2;
  if (tree.self != 0) receive(ctx, x, tree.world(tree.self - subtree));
  for (int child = subtree / 2; child >= 1; child /= 2)
    if (tree.self + child < tree.size) send(ctx, x, tree.world(tree.self + child));
}

void binomial_reduce(Context ctx, const Tensor& x, Reduce op, int root) {
  const Rooted tree(ctx, root);
  if (tree.size == 1) return;
  const Scratch scratch(ctx, x);
  for (int child = 1; child < tree.size; child *= 2) {
    if (tree.self & child) return send(ctx, x, tree.world(tree.self - child));
    if (tree.self + child >= tree.size) continue;
    receive(ctx, scratch.like(x), tree.world(tree.self + child));
    accumulate(ctx, op, scratch.like(x), x);
  }
  finish_reduction(ctx, op, x);
}

void pipelined_broadcast(Context ctx, const Tensor& x, int root, int segments) {
  const Rooted chain(ctx, root);
  if (chain.size == 1) return;
  auto segment = [&](int i) {
    return x.part(static_cast<std::size_t>(i), static_cast<std::size_t>(segments));
  };
  const bool first = chain.self == 0, last = chain.self == chain.size - 1;
  const int before = chain.world(chain.self - 1 + chain.size), after = chain.world(chain.self + 1);
  const Rounds::Sent sent[] = {{after, static_cast<std::uint64_t>(segments), x.priced_nbytes()}};
  const auto pieces = static_cast<std::size_t>(segments);
  Rounds rounds{.pattern = Rounds::chain, .phases = {{{chain.size - 2 + segments}}}};
  rounds.longest = x.slice(0, 0, (x.priced_numel() + pieces - 1) / pieces).priced_nbytes();
  rounds.valued = !x.is_phantom();
  if (!last) rounds.sent = sent;
  ctx.comm->coupled(rounds, [&] {
    // Segment i arrives while segment i - 1 leaves.
    if (!first) receive(ctx, segment(0), before);
    for (int i = 1; i < segments; ++i) {
      if (first) send(ctx, segment(i - 1), after);
      else if (last) receive(ctx, segment(i), before);
      else send_receive(ctx, segment(i - 1), after, segment(i), before);
    }
    if (!last) send(ctx, segment(segments - 1), after);
  });
}

}  // namespace trigram
