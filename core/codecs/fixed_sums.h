#pragma once

#include <cstddef>

/// The order in which codecs sum over a chunk, in f64. The order suits vectors of any width as well
/// as thousands of threads. A chunk is cut into tiles of kTile elements. Within a tile, lane l adds
/// the elements l, l + 16, l + 32 ..., and the lanes are added as a tree. The sums of the tiles are
/// added in the same way: lane t mod 16 adds tile t.
namespace trigram::fixed_sums {

inline constexpr std::size_t kLanes = 16, kTile = 1024;

/// The sum of the lanes, added as a tree.
constexpr double tree_sum(const double (&lanes)[kLanes]) {
  double sums[kLanes] = {};
  for (std::size_t i = 0; i < kLanes; ++i) sums[i] = lanes[i];
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

}  // namespace trigram::fixed_sums
