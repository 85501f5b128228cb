#pragma once

#include <cstddef>

#include "core/codecs/qsgd_kernels.h"
#include "core/config/fields.h"

namespace trigram::qsgd {

enum class Norm { l2, max };
/// How the length of a bucket's code is counted: its real length in codes of fixed length, or an
/// upper bound of the mean length in Elias codes (elias::mean_bits).
enum class Coding { fixed, elias };

struct Options {
  std::int64_t levels = 127;
  std::int64_t bucket = 512;
  Norm norm = Norm::l2;
  Coding coding = Coding::fixed;
};
FieldTable<Options> option_fields();
Format format_of(const Options& options);

}  // namespace trigram::qsgd

// The length of QSGD's quantised elements in Elias codes, which encode an integer k >= 1 in 2
// floor(log2 k) + 1 bits (QSGD: arXiv 1610.02132, here with gamma codes: Elias, IEEE Transactions
// on Information Theory 21, 1975).
namespace trigram::elias {

/// An upper bound of the mean number of bits in the code of a bucket, without its norm. The mean is
/// over the random rounding of any `numel` elements to `levels` (>= 1) levels of their Euclidean
/// norm. The bound is for whichever form below has the smaller bound, as a sender would choose
/// before it knows the values:
///
///   dense:   for every element gamma(level + 1), and a sign if the level is not 0
///   sparse:  gamma(1 + number of nonzero levels), and for each of these gamma(distance from the
///            previous one), sign, gamma(level)
double mean_bits(int levels, std::size_t numel);

}  // namespace trigram::elias
