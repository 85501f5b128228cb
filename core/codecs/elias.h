#pragma once

#include <cstddef>

// What the quantised elements of a QSGD bucket take in Elias codes (arXiv 1610.02132 with gamma
// codes: Elias, IEEE Transactions on Information Theory 21, 1975), for which the integer k >= 1 is
// 2 floor(log2 k) + 1 bits long.

namespace trigram::elias {

/// Upper bound of the mean of a bucket's bits, without its norm: over the random rounding of any
/// `numel` elements to `levels` levels of their Euclidean norm (levels 1 or more). Of the two forms
/// below that whose bound is smaller, as the sender would choose before it knows the values:
///
///   dense:   of every element gamma(level + 1), and a sign where the level is not 0
///   sparse:  gamma(1 + number of levels that are not 0), and of each such level gamma(its distance
///            from the one before), sign, gamma(level)
double mean_bits(int levels, std::size_t numel);

}  // namespace trigram::elias
