#include <algorithm>
#include <functional>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/pricing.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// A chain of ranks. Each rank passes tensors on to the next rank, piece by piece.
class Chain {
 public:
  Chain(Context ctx, std::span<const Tensor> pieces, int first)
      : ctx_(ctx),
        pieces_(pieces),
        size_(ctx.size()),
        position_((ctx.rank() - first + size_) % size_) {}

  bool first() const { return position_ == 0; }
  bool last() const { return position_ == size_ - 1; }
  int before() const { return (ctx_.rank() - 1 + size_) % size_; }
  int after() const { return (ctx_.rank() + 1) % size_; }
  /// A tensor as long as the longest piece, in real and in priced elements.
  Tensor longest() const {
    std::size_t numel = 0, priced_numel = 0;
    for (const Tensor& piece : pieces_) {
      numel = std::max(numel, piece.numel());
      priced_numel = std::max(priced_numel, piece.priced_numel());
    }
    return Tensor::phantom(numel, pieces_[0].dtype(), priced_numel);
  }
  /// Receives piece i in `buffer(piece)` while piece i - 1 is sent on. Then calls `process(ctx,
  /// piece)`.
  template <class Buffer, class Process>
  void run(Buffer buffer, Process process) const {
    const std::size_t count = pieces_.size();
    const auto work = [&](Context dry) { process(dry, longest()); };
    run_as_chain(ctx_, pieces_, last(), work, [&] {
      for (std::size_t i = 0; i <= count; ++i) {
        const bool receives = !first() && i < count, sends = !last() && i > 0;
        if (receives && sends)
          send_receive(ctx_, pieces_[i - 1], after(), buffer(pieces_[i]), before());
        else if (receives) receive(ctx_, buffer(pieces_[i]), before());
        else if (sends) send(ctx_, pieces_[i - 1], after());
        if (receives) process(ctx_, pieces_[i]);
      }
    });
  }

 private:
  Context ctx_;
  std::span<const Tensor> pieces_;
  int size_, position_;
};

/// Runs the whole reduction except for the final scaling of a mean.
void reduce_along(Context ctx, std::span<const Tensor> pieces, Reduce op, int root) {
  const Chain chain(ctx, pieces, (root + 1) % ctx.size());
  const Scratch scratch(ctx, chain.longest());
  chain.run([&](const Tensor& piece) { return scratch.like(piece); },
            [&](Context c, const Tensor& piece) { accumulate(c, op, scratch.like(piece), piece); });
}

}  // namespace

void pipelined_broadcast(Context ctx, std::span<const Tensor> pieces, int root) {
  if (ctx.size() == 1 || pieces.empty()) return;
  Chain(ctx, pieces, root).run(std::identity(), [](Context, const Tensor&) {});
}

void pipelined_broadcast(Context ctx, const Tensor& x, int root, int segments) {
  pipelined_broadcast(ctx, parts(x, static_cast<std::size_t>(segments)), root);
}

void pipelined_reduce(Context ctx, std::span<const Tensor> pieces, Reduce op, int root) {
  if (ctx.size() == 1 || pieces.empty()) return;
  reduce_along(ctx, pieces, op, root);
  if (ctx.rank() == root)
    for (const Tensor& piece : pieces) finish_reduction(ctx, op, piece);
}

void pipelined_reduce(Context ctx, const Tensor& x, Reduce op, int root, int segments) {
  if (ctx.size() == 1) return;
  reduce_along(ctx, parts(x, static_cast<std::size_t>(segments)), op, root);
  if (ctx.rank() == root) finish_reduction(ctx, op, x);
}

}  // namespace trigram
