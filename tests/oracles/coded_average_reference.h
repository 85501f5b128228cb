#pragma once

#include <functional>
#include <map>
#include <vector>

#include "core/codec.h"

// Averages of encoded vectors, in plain loops.

namespace trigram::test {

/// Encodes and decodes a vector. One coder serves one rank for one bucket in one step.
using Coder = std::function<std::vector<float>(const std::vector<float>&)>;

/// For minmax_uint8, sign and topk, the coder consists of plain loops. Other codecs have random
/// numbers that depend on the key; for them, the coder uses the codec itself, which other tests
/// check.
Coder plain_coder(const CodecSpec& codec, const CodecKey& key);

/// The equations of the two kinds of averages, including residuals. C(x) is a vector that was
/// encoded and decoded, and e is the residual of earlier encodings.
class CodedAverageReference {
 public:
  using Vector = std::vector<float>;
  /// `ranks` are the world ranks of the exchanging ranks.
  CodedAverageReference(CodecSpec codec, bool feedback, std::uint64_t seed, std::vector<int> ranks);

  /// mean = sum_r C(x_r + e_r) / P.
  Vector gathered(const std::vector<Vector>& inputs, int bucket, long step);

  /// The same for each of P parts. Then the owner of a part computes C(mean + e), with the coder
  /// that has already encoded all parts of the owner's own vector.
  Vector scattered(const std::vector<Vector>& inputs, int bucket, long step);

 private:
  /// The key is a rank and a bucket; the vectors are indexed by part.
  using Residuals = std::map<std::pair<std::size_t, int>, std::vector<Vector>>;

  Coder coder(std::size_t index, int bucket, long step) const;
  /// Returns C(x + residual), and sets `residual` to the difference that encoding causes.
  Vector coded(const Coder& code, Vector x, Vector& residual) const;
  Vector& residual(Residuals& residuals, std::size_t index, int bucket, std::size_t part);

  CodecSpec codec_;
  bool feedback_;
  std::uint64_t seed_;
  std::vector<int> ranks_;
  Residuals worker_, owner_;
};

}  // namespace trigram::test
