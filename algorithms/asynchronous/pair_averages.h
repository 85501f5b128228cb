#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/algorithm.h"
#include "core/codec.h"

namespace trigram {

/// Averages of the models of two ranks, exact or by a codec, in the form of what each of the two
/// adds to its model. They add the same with opposite signs, so the sum of all models is conserved
/// whatever a code loses.
///
/// With a codec Q, every two ranks that may meet share a reference r of their own, which both know.
/// What travels is the code of how far a model x is from it:
///
///   q_i = Q(x_i - r),  q_j = Q(x_j - r)
///   x_i = x_i + (q_j - q_i)/2,  x_j = x_j + (q_i - q_j)/2,  r = r + (q_i + q_j)/2
///
/// Hence x_i - r = (x_i - r)_before - q_i: what the code has lost is how far the model is from the
/// reference then, and is coded again the next time: error feedback without a residual. Q must lose
/// less than it is given, which unbiased codes of few bits or few elements do not.
class PairAverages {
 public:
  /// `partners` are those that this rank ever meets. With a codec the run's weights, which are then
  /// equal on all ranks, are the first references: one model per partner, and one more.
  PairAverages(Context ctx, Run& run, const std::vector<int>& partners,
               std::optional<CodecSpec> codec);

  /// Called on both ranks: `change` becomes what `model` changes by when it is averaged with that
  /// of `partner`. One message each way.
  void average(Context c, const Tensor& model, int partner, const Tensor& change);

 private:
  struct Reference {
    Tensor model;
    long averages = 0;
  };
  void average_coded(Context c, const Tensor& model, int partner, const Tensor& change);

  std::optional<CodecSpec> codec_;
  std::uint64_t seed_;
  std::map<int, Reference> references_;  // by partner
  Tensor decoded_;                       // only with a codec
};

}  // namespace trigram
