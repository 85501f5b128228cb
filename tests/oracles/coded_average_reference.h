#pragma once

#include <functional>
#include <map>
#include <vector>

#include "core/codec.h"

// Averages of encoded vectors, in plain loops.

namespace trigram::test {

/// Encodes and decodes a vector. One coder serves one rank for one bucket in one step.
using Coder = std::function<std::vector<float>(const std::vector<float>&)>;

/// Plain loops for minmax_uint8, sign and topk. For other codecs, whose random numbers depend on
/// the key, it uses the codec itself; other tests check these codecs.
Coder plain_coder(const CodecSpec& codec, const CodecKey& key);

/// The equations of the two exchanges, including the residuals.
class CodedAverageReference {
 public:
  using Vector = std::vector<float>;
  /// `ranks` are the world ranks of the exchanging ranks.
  CodedAverageReference(CodecSpec codec, bool feedback, std::uint64_t seed, std::vector<int> ranks);

  /// mean = sum_r C(x_r + e_r) / P.
  Vector gathered(const std::vector<Vector>& inputs, int bucket, long step);

  /// The same for each of P parts; then the owner of a part computes C(mean + e). Before that, the
  /// owner's coder has encoded all parts of its own vector.
  Vector scattered(const std::vector<Vector>& inputs, int bucket, long step);

 private:
  using Residuals = std::map<std::pair<std::size_t, int>,
                             std::vector<Vector>>;  // the vectors are indexed by part

  Coder coder(std::size_t index, int bucket, long step) const;
  /// Encodes x plus `residual`, the earlier loss; `residual` becomes the new loss.
  Vector coded(const Coder& code, Vector x, Vector& residual) const;
  Vector& residual(Residuals& of, std::size_t index, int bucket, std::size_t part);

  CodecSpec codec_;
  bool feedback_;
  std::uint64_t seed_;
  std::vector<int> ranks_;
  Residuals worker_, owner_;
};

}  // namespace trigram::test
