#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/algorithm.h"
#include "core/codec.h"

namespace trigram {

/// Averages of the models of two ranks, exact or with a codec. The result is a change that each
/// rank adds to its model. The two changes are equal with opposite signs, so the sum of all models
/// is conserved whatever a code loses.
///
/// With a codec Q, every two ranks that may average share a reference r, which both know. They send
/// the code of the difference between a model x and r:
///
///   q_i = Q(x_i - r),  q_j = Q(x_j - r)
///   x_i = x_i + (q_j - q_i)/2,  x_j = x_j + (q_i - q_j)/2,  r = r + (q_i + q_j)/2
///
/// Hence the new x_i - r is the old x_i - r minus q_i: the loss of the code is the new difference
/// between model and reference, and the next average encodes it again. This is error feedback
/// without a residual. Q must be a contraction (CodecEntry::contracts), which unbiased codecs of
/// few bits or few elements are not.
class PairAverages {
 public:
  /// `partners` are the ranks that this rank may average with. With a codec, the first references
  /// are the run's weights, which must be equal on all ranks. Memory with a codec: one model per
  /// partner, and one more.
  PairAverages(Context ctx, Run& run, const std::vector<int>& partners,
               std::optional<CodecSpec> codec);

  /// Called on both ranks: sets `change` to the change of `model` by the average with the model of
  /// `partner`. Each rank sends one message.
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
