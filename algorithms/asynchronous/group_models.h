#pragma once

#include <bit>
#include <optional>

#include "algorithms/asynchronous/late_contributions.h"
#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/execution/host_passes.h"
#include "algorithms/primitives/primitives.h"
#include "core/subset.h"

namespace trigram {

/// Sums of models over groups, exact or with a codec. With a codec, each rank sends to every rank
/// of its group the code of the difference between its model and a reference r that all ranks
/// share:
///
///   sum_i = S (x_i + mean_j Q(d_j) - Q(d_i)),  d_j = x_j - r        over the S ranks of the group
///
/// A rank thus keeps the loss of its own code in its model and encodes it again the next time, so
/// the sums differ from rank to rank by these losses. The mean of sum_i / S equals the mean of x_i,
/// however large the losses are. Q must be a contraction.
class ModelSums {
 public:
  /// `algorithm` is used for exact sums, `seed` by codecs. The first reference is `weights`;
  /// `state` keeps it.
  ModelSums(Context ctx, const Tensor& weights, std::uint64_t seed, std::optional<CodecSpec> codec,
            const AllreduceSpec& algorithm, const TrainingState& state);
  /// x = the (approximate) sum of all x over ctx.comm.
  void add_up(Context ctx, const Tensor& x, Slot slot);
  /// Sets the reference to `model`. All ranks call it with the same model.
  void set_reference(Context ctx, const Tensor& model);

 private:
  std::optional<CodecSpec> codec_;
  AllreduceSpec algorithm_;
  std::uint64_t seed_;
  Tensor reference_, lost_;  // only with a codec; the latter is the loss of this rank's code
};

/// State shared by a worker and its agent for a model, or a part of one, that is averaged in groups
/// and, from time to time, over all ranks (WAGMA-SGD, arXiv 2005.00124).
struct GroupModels {
  GroupModels(Context ctx, const Tensor& weights, std::uint64_t seed,
              const std::optional<CodecSpec>& codec, const AllreduceSpec& in_group,
              const HostPasses& on_host, const TrainingState& state)
      : models(ctx, weights, state),
        sums(ctx, weights, seed, codec, in_group, state),
        host(on_host),
        coded(codec.has_value()),
        butterfly(in_group.algorithm == AllreduceAlgorithm::recursive_doubling) {}

  /// Called by the agent: averages the latest models over ctx.comm. Codes are relative to this mean
  /// from then on.
  void average_all(Context ctx, const AllreduceSpec& allreduce) {
    models.average([&](const Tensor& x) {
      c_fp_s(ctx, x, allreduce);
      sums.set_reference(ctx, x);
      host.add(x);
    });
  }
  /// Called by the agent: sums the latest models over `members` of ctx.comm.
  void sum(Context ctx, const std::vector<int>& members, Slot slot) {
    Subset group(*ctx.comm, members);
    models.sum(ctx, [&](const Tensor& x) {
      sums.add_up(ctx.with(group), x, slot);
      host.add(x, models_added(members.size()));
    });
  }
  /// The number of models that a rank adds to its own model for a group sum: with a codec, the
  /// models of all other members; with a butterfly, one model in each round. Other algorithms add
  /// pieces of models that amount to one model.
  std::size_t models_added(std::size_t group_size) const {
    if (coded) return group_size - 1;
    return butterfly ? static_cast<std::size_t>(std::countr_zero(group_size)) : 1;
  }

  LateModels models;
  ModelSums sums;
  HostPasses host;
  bool coded, butterfly;
};

}  // namespace trigram
