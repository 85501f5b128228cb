#pragma once

#include "algorithms/primitives/late_contributions.h"
#include "algorithms/primitives/model_sums.h"
#include "algorithms/primitives/primitives.h"

namespace trigram {

/// What a worker and its agent share of a model, or of a part of one, that is averaged in groups,
/// and over all from time to time (WAGMA-SGD, arXiv 2005.00124).
struct GroupModels {
  GroupModels(Context ctx, const Tensor& weights, std::uint64_t seed,
              const std::optional<CodecSpec>& codec, const AllreduceSpec& in_group)
      : models(ctx, weights), sums(ctx, weights, seed, codec, in_group) {}

  /// Agent: the mean of the latest models over ctx.comm, to which codes refer from here on.
  void average_all(Context ctx, const AllreduceSpec& allreduce) {
    models.average([&](const Tensor& x) {
      c_fp_s(ctx, x, allreduce);
      sums.refer_to(ctx, x);
    });
  }
  /// Agent: the sum of the latest models over `members` of ctx.comm.
  void sum(Context ctx, const std::vector<int>& members, Slot slot) {
    Subset group(*ctx.comm, members);
    models.sum(ctx, [&](const Tensor& x) { sums.add_up(ctx.with(group), x, slot); });
  }

  LateModels models;
  ModelSums sums;
};

}  // namespace trigram
