#include "core/codecs/elias.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trigram::elias {
namespace {

// Let a_i = s |x_i| / |x|, so that sum a_i^2 = s^2. The level l_i is one of the two integers around
// a_i, chosen at random with mean a_i. The bounds below follow, with log to base 2:
//
//   sum P(l_i > 0) <= sum min(1, a_i) <= min(n, s sqrt n) = N
//
//   sum E log(1 + l_i) <= sum log(1 + a_i) <= n log(1 + s / sqrt n), as log(1 + sqrt t) is concave
//
//   sum of E log l_i over l_i > 0 <= sum of log a_i over a_i > 1 <= M/2 log(s^2 / M), where M <= n
//   is the number of elements with a_i > 1; this is largest for M = s^2 / e
//
// The logarithms of K distances that add up to at most n add up to at most K log(n / K). With sign
// and level that makes 3 K + 2 K log(n / K) bits, which is concave and grows with K up to n, so the
// mean is bounded by the value at N.

double not_zero(double s, double n) { return std::min(n, s * std::sqrt(n)); }

double dense_bits(double s, double n) {
  return n + 2 * n * std::log2(1 + s / std::sqrt(n)) + not_zero(s, n);
}

double sparse_bits(double s, double n) {
  const double count = not_zero(s, n), above_one = std::min(n, s * s / std::numbers::e);
  const double distances = count * (1 + 2 * std::log2(n / count));
  const double signs = count, levels = count + above_one * std::log2(s * s / above_one);
  return 1 + 2 * std::log2(1 + count) + distances + signs + levels;
}

}  // namespace

double mean_bits(int levels, std::size_t numel) {
  if (numel == 0) return 0;
  const auto s = static_cast<double>(levels), n = static_cast<double>(numel);
  return std::min(dense_bits(s, n), sparse_bits(s, n));
}

}  // namespace trigram::elias
