#include <functional>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/double_tree.h"
#include "algorithms/collectives/halving_doubling.h"
#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// Reduces folded ranks onto their partners, runs `core` among the 2^k active ranks, and sends the
/// result back to the folded ranks (see Fold).
void folded_allreduce(Context ctx, const Tensor& x, Reduce op,
                      const std::function<void(const Fold&)>& core) {
  const Fold fold(ctx);
  if (fold.folded()) {
    send(ctx, x, fold.partner());
    return receive(ctx, x, fold.partner());
  }
  if (fold.partner() >= 0) {
    const Scratch scratch(ctx, x);
    receive(ctx, scratch.like(x), fold.partner());
    accumulate(ctx, op, scratch.like(x), x);
  }
  core(fold);
  if (fold.partner() >= 0) send(ctx, x, fold.partner());
}

/// Runs one or several rings, segment after segment.
void rings_allreduce(Context ctx, const Tensor& x, Reduce op, Rings rings) {
  const auto segments = parts(x, parts_within(x, rings.segment_bytes));
  rings.segment_bytes = 0;
  for (const Tensor& segment : segments) {
    if (rings == Rings{}) ring_allreduce(ctx, segment, op);
    else channelled_ring_allreduce(ctx, segment, op, rings);
  }
}

void nccl_allreduce(Context ctx, const Tensor& x, Reduce op, const NcclOptions& options) {
  if (nccl_choice(nccl_view(ctx, options), x.priced_nbytes()) == NcclAlgorithm::ring)
    return ring_allreduce(ctx, x, op);
  double_tree_allreduce(ctx, x, op);
}

}  // namespace

void recursive_doubling_allreduce(Context ctx, const Tensor& x, Reduce op) {
  folded_allreduce(ctx, x, op, [&](const Fold& fold) {
    const Scratch scratch(ctx, x);
    for (int distance = 1; distance < fold.size(); distance *= 2) {
      const int peer = fold.active(fold.number() ^ distance);
      send_receive(ctx, x, peer, scratch.like(x), peer);
      accumulate(ctx, op, scratch.like(x), x);
    }
    finish_reduction(ctx, op, x);  // divides by the number of all P ranks, not only the active ones
  });
}

void rabenseifner_allreduce(Context ctx, const Tensor& x, Reduce op) {
  folded_allreduce(ctx, x, op, [&](const Fold& fold) {
    const auto parts = static_cast<std::size_t>(fold.size());
    auto range = [&](int first, int last) {
      return x.parts(static_cast<std::size_t>(first), static_cast<std::size_t>(last), parts);
    };
    halve(ctx, fold, range, op);
    finish_reduction(ctx, op, range(fold.number(), fold.number() + 1));
    double_up(ctx, fold, range);
  });
}

void native_allreduce(Context ctx, const Tensor& x, Reduce op) {
  if (!ctx.comm->native({Collective::allreduce, x, op})) ring_allreduce(ctx, x, op);
}

void allreduce(Context ctx, const Tensor& x, Reduce op, const AllreduceSpec& spec) {
  switch (spec.algorithm) {
    case AllreduceAlgorithm::ring: return rings_allreduce(ctx, x, op, spec.rings);
    case AllreduceAlgorithm::recursive_doubling: return recursive_doubling_allreduce(ctx, x, op);
    case AllreduceAlgorithm::rabenseifner: return rabenseifner_allreduce(ctx, x, op);
    case AllreduceAlgorithm::double_tree: return double_tree_allreduce(ctx, x, op);
    case AllreduceAlgorithm::nccl: return nccl_allreduce(ctx, x, op, spec.nccl);
    case AllreduceAlgorithm::native: return native_allreduce(ctx, x, op);
  }
}

}  // namespace trigram
