#pragma once

#include <optional>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/primitives/error_feedback.h"

namespace trigram {

/// Sums of models over groups, exact or by a codec. With one, what travels is the code of how far
/// each model is from a reference r that all ranks share, to every rank of the group:
///
///   sum_i = S (x_i + mean_j Q(d_j) - Q(d_i)),  d_j = x_j - r        over the S ranks of the group
///
/// So the sums differ from rank to rank, by what the code of each rank's own model has lost: a rank
/// keeps that, and codes it again the next time. The mean of sum_i / S is that of x_i, whatever is
/// lost. Q must be a contraction.
class ModelSums {
 public:
  /// `algorithm` is that of exact sums, `seed` that of codes. The first reference is `weights`.
  ModelSums(Context ctx, const Tensor& weights, std::uint64_t seed, std::optional<CodecSpec> codec,
            const AllreduceSpec& algorithm);
  /// x = (about) the sum of all x over ctx.comm.
  void add_up(Context ctx, const Tensor& x, Slot slot);
  /// From here on, on all ranks, differences are those from `model`.
  void refer_to(Context ctx, const Tensor& model);

 private:
  std::optional<CodecSpec> codec_;
  AllreduceSpec algorithm_;
  std::uint64_t seed_;
  Tensor reference_;              // only with a codec
  std::optional<Feedback> lost_;  // likewise: of the sum at hand
};

}  // namespace trigram
