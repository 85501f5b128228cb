#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/device/norm_order.h"

namespace trigram::norm_order {

/// Combines one value per thread in the order of a GPU block (norm_order.h).
inline double block_sum(double (&values)[kThreads]) {
  constexpr std::size_t kWarp = 32;
  for (std::size_t width = kWarp / 2; width > 0; width /= 2) {
    for (std::size_t warp = 0; warp < kThreads; warp += kWarp) {
      for (std::size_t i = warp; i < warp + width; ++i) values[i] += values[i + width];
    }
  }
  double sum = values[0];
  for (std::size_t warp = kWarp; warp < kThreads; warp += kWarp) sum += values[warp];
  return sum;
}

/// Combines the sums of one range.
inline double range_sum(const double* sums) {
  double values[kThreads];
  for (std::size_t t = 0; t < kThreads; ++t) {
    const double* const own = sums + 4 * t;
    values[t] = (own[0] + own[2]) + (own[1] + own[3]);
  }
  return block_sum(values);
}

/// Padding that keeps the sums of two vectors from beginning at the same offset in a page. A
/// processor delays a load after an earlier store if the last twelve bits of their addresses are
/// equal (4K aliasing).
inline constexpr std::size_t kPad = 136;

/// The Euclidean norms of kNorms vectors of n elements. `add(begin, count, sums)` adds the square
/// of element begin + i of vector k to sums[k][i], for i < count <= kSums.
template <std::size_t kNorms, class Add>
std::array<double, kNorms> norms(std::size_t n, const Add& add) {
  const std::size_t range = range_of(n);
  double values[kNorms][kThreads] = {};
  for (std::size_t begin = 0; begin < n; begin += range) {
    const std::size_t end = std::min(begin + range, n);
    double sums[kNorms][kSums + kPad] = {};
    for (std::size_t i = begin; i < end; i += kSums) add(i, std::min(kSums, end - i), sums);
    for (std::size_t k = 0; k < kNorms; ++k)
      values[k][begin / range % kThreads] += range_sum(sums[k]);
  }
  std::array<double, kNorms> result;
  for (std::size_t k = 0; k < kNorms; ++k) result[k] = std::sqrt(block_sum(values[k]));
  return result;
}

}  // namespace trigram::norm_order
