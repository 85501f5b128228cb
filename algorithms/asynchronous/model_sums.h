#pragma once

#include <optional>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/primitives/error_feedback.h"

namespace trigram {

/// Sums of models over groups, exact or with a codec. With a codec, each rank sends to every rank
/// of its group the code of the difference between its model and a reference r that all ranks
/// share:
///
///   sum_i = S (x_i + mean_j Q(d_j) - Q(d_i)),  d_j = x_j - r        over the S ranks of the group
///
/// A rank thus keeps the loss of its own code in its model and encodes it again the next time, so
/// the sums differ from rank to rank by these losses. The mean of sum_i / S equals the mean of x_i,
/// whatever is lost. Q must be a contraction.
class ModelSums {
 public:
  /// `algorithm` is used for exact sums, `seed` by codecs. The first reference is `weights`.
  ModelSums(Context ctx, const Tensor& weights, std::uint64_t seed, std::optional<CodecSpec> codec,
            const AllreduceSpec& algorithm);
  /// x = the (approximate) sum of all x over ctx.comm.
  void add_up(Context ctx, const Tensor& x, Slot slot);
  /// Sets the reference to `model`. All ranks call it with the same model.
  void refer_to(Context ctx, const Tensor& model);

 private:
  std::optional<CodecSpec> codec_;
  AllreduceSpec algorithm_;
  std::uint64_t seed_;
  Tensor reference_;              // only with a codec
  std::optional<Feedback> lost_;  // only with a codec: the loss of this rank's code
};

}  // namespace trigram
