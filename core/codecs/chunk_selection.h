#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "core/codecs/kernels.h"

namespace trigram {

/// The elements that a sparse codec keeps of a chunk.
struct KeptElements {
  std::vector<std::uint32_t> indices;  // in ascending order
  float least = 0;                     // the smallest of their magnitudes

  /// The `kept` > 0 elements of x with the largest magnitudes, of equal ones the first.
  static KeptElements largest_of(const float* x, std::size_t n, std::size_t kept) {
    const auto magnitude = [x](std::size_t i) {
      return std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFF;
    };
    std::vector<std::uint32_t> sorted(n), chosen(n);
    for (std::size_t i = 0; i < n; ++i) sorted[i] = magnitude(i);
    const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(kept) - 1;
    std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
    const std::uint32_t bound = *last;
    const auto above = static_cast<std::size_t>(
        std::count_if(sorted.begin(), last, [bound](std::uint32_t m) { return m > bound; }));
    chosen.resize(magnitudes::at_least(bound, x, n, chosen.data()));
    std::size_t ties = kept - above;  // elements at the bound that are still to be chosen
    std::erase_if(chosen, [&](std::uint32_t i) {
      if (magnitude(i) != bound) return false;
      if (ties == 0) return true;
      --ties;
      return false;
    });
    return {std::move(chosen), std::bit_cast<float>(bound)};
  }
};

}  // namespace trigram
