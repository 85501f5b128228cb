#pragma once

#include <algorithm>
#include <cstddef>

/// In which order Device::norm2 adds squares up, so that host and GPU get the same bits. The vector
/// is cut into ranges. In each, every 1024th element goes to the same sum; a thread of a GPU has
/// four neighbouring sums, and combines them as (0 + 2) + (1 + 3). What 256 threads have is
/// combined as a block does it: a tree in each 32, then these one after the other. The sums of the
/// ranges are shared out to 256 threads in turns, and combined in the same way.
namespace trigram::norm_order {

inline constexpr std::size_t kSums = 1024;
inline constexpr std::size_t kThreads = kSums / 4;
inline constexpr std::size_t kMostRanges = 512;

/// Elements of every range but the last, which may be shorter.
constexpr std::size_t range_of(std::size_t n) {
  const std::size_t rounds = (n + kSums - 1) / kSums;
  const std::size_t ranges = std::clamp<std::size_t>(rounds / 4, 1, kMostRanges);
  return kSums * std::max<std::size_t>(1, (rounds + ranges - 1) / ranges);
}

}  // namespace trigram::norm_order
