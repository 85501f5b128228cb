#pragma once

#include <cstddef>

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
