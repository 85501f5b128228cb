#pragma once

#include <optional>

#include "algorithms/collectives/collectives.h"
#include "core/algorithm.h"

namespace trigram {

/// Sums of models over groups, exact or by a codec. With one, what travels is the code of how far
/// each model is from a reference r that all ranks share, by scatter-reduce:
///
///   sum = S (r + Q(mean_j Q(x_j - r)))        over the S ranks of the group
class ModelSums {
 public:
  /// `algorithm` is that of exact sums. The first reference is the run's weights.
  ModelSums(Context ctx, Run& run, std::optional<CodecSpec> codec, AllreduceAlgorithm algorithm);
  /// x = (about) the sum of all x over ctx.comm, equal on all its ranks.
  void add_up(Context ctx, const Tensor& x, long step);
  /// From here on, on all ranks, differences are those from `model`.
  void refer_to(Context ctx, const Tensor& model);

 private:
  std::optional<CodecSpec> codec_;
  AllreduceAlgorithm algorithm_;
  std::uint64_t seed_;
  Tensor reference_;  // only with a codec
};

}  // namespace trigram
