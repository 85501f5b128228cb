#pragma once

#include <algorithm>
#include <cstddef>

/// The order in which Device::norm2 adds squares, so that host and GPU get the same bits. The
/// vector is cut into ranges. Within a range, element i goes to sum i mod 1024. A GPU thread holds
/// four adjacent sums and combines them as (0 + 2) + (1 + 3). A block of 256 threads combines their
/// values by a tree within each warp of 32, then adds the warps' results one after the other.
/// Finally, thread t of another block adds the sums of the ranges r with r mod 256 = t, and this
/// block combines its threads' values in the same way.
namespace trigram::norm_order {

inline constexpr std::size_t kSums = 1024;
inline constexpr std::size_t kThreads = kSums / 4;
inline constexpr std::size_t kMostRanges = 512;

/// Elements per range; the last range may be shorter.
constexpr std::size_t range_of(std::size_t n) {
  const std::size_t rounds = (n + kSums - 1) / kSums;
  // The unary plus makes a copy, because kernels must not refer to a variable of the host.
  const std::size_t ranges = std::clamp<std::size_t>(rounds / 4, 1, +kMostRanges);
  return kSums * std::max<std::size_t>(1, (rounds + ranges - 1) / ranges);
}

}  // namespace trigram::norm_order
