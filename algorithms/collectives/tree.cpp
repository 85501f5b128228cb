#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// Renumbers ranks relative to the root, which becomes 0.
struct Rooted {
  Rooted(Context ctx, int root_rank)
      : size(ctx.size()), root(root_rank), self((ctx.rank() - root_rank + size) % size) {}
  int rank(int relative) const { return (relative + root) % size; }
  int size, root, self;
};

}  // namespace

void binomial_broadcast(Context ctx, const Tensor& x, int root) {
  const Rooted tree(ctx, root);
  // The lowest bit set in self, or for the root the first power of two that is not below the size.
  // The ranks self .. self + subtree - 1 are self's subtree.
  int subtree = 1;
  while (subtree < tree.size && !(tree.self & subtree)) subtree *= 2;
  if (tree.self != 0) receive(ctx, x, tree.rank(tree.self - subtree));
  for (int child = subtree / 2; child >= 1; child /= 2)
    if (tree.self + child < tree.size) send(ctx, x, tree.rank(tree.self + child));
}

void binomial_reduce(Context ctx, const Tensor& x, int root,
                     const std::function<void(const Tensor& arrived)>& merge) {
  const Rooted tree(ctx, root);
  if (tree.size == 1) return;
  const Scratch scratch(ctx, x);
  for (int child = 1; child < tree.size; child *= 2) {
    if (tree.self & child) return send(ctx, x, tree.rank(tree.self - child));
    if (tree.self + child >= tree.size) continue;
    receive(ctx, scratch.like(x), tree.rank(tree.self + child));
    merge(scratch.like(x));
  }
}

void binomial_reduce(Context ctx, const Tensor& x, Reduce op, int root) {
  binomial_reduce(ctx, x, root, [&](const Tensor& arrived) { accumulate(ctx, op, arrived, x); });
  if (ctx.size() > 1 && ctx.rank() == root) finish_reduction(ctx, op, x);
}

}  // namespace trigram
