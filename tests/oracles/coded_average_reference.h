#pragma once

#include <functional>
#include <map>
#include <vector>

#include "core/codec.h"

// Averages of coded vectors, in plain loops.

namespace trigram::test {

/// A vector as its code has it. One coder serves a rank for one bucket in one step.
using Coder = std::function<std::vector<float>(const std::vector<float>&)>;

/// Of minmax_uint8, sign and topk in plain loops; of others the codec itself,
/// whose random numbers every key has of its own. What it does with them is tested with the codecs.
Coder plain_coder(const CodecSpec& codec, const CodecKey& key);

/// The equations of the two exchanges, with the residuals that they keep.
class CodedAverageReference {
 public:
  using Vector = std::vector<float>;
  /// `ranks` are the world ranks of those that exchange.
  CodedAverageReference(CodecSpec codec, bool feedback, std::uint64_t seed, std::vector<int> ranks);

  /// mean = sum_r C(x_r + e_r) / P.
  Vector gathered(const std::vector<Vector>& inputs, int bucket, long step);

  /// The same for each of P parts, then C(mean + e) by the part's owner, whose coder has coded all
  /// parts of its own vector before.
  Vector scattered(const std::vector<Vector>& inputs, int bucket, long step);

 private:
  using Residuals = std::map<std::pair<std::size_t, int>, std::vector<Vector>>;  // [part]

  Coder coder(std::size_t index, int bucket, long step) const;
  /// The code of x and what was lost before, `residual`, which becomes what is lost now.
  Vector coded(const Coder& code, Vector x, Vector& residual) const;
  Vector& residual(Residuals& of, std::size_t index, int bucket, std::size_t part);

  CodecSpec codec_;
  bool feedback_;
  std::uint64_t seed_;
  std::vector<int> ranks_;
  Residuals worker_, owner_;
};

}  // namespace trigram::test
