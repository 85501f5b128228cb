#pragma once

#include <cuda_runtime.h>

#include "core/codecs/fixed_sums.h"

/// A team is sixteen neighbouring threads, half a warp. They sum in the order of
/// core/codecs/fixed_sums.h; each thread is one of its lanes. All threads of a warp must call these
/// functions together.
namespace trigram::cuda::team {

inline constexpr unsigned kSize = fixed_sums::kLanes;
inline constexpr unsigned kFullWarp = 0xFFFFFFFF;

__device__ __forceinline__ unsigned lane() { return threadIdx.x % kSize; }

/// The sum over the lanes, added as a tree. All lanes get it.
template <class Sum>
__device__ __forceinline__ Sum tree_sum(Sum own) {
#pragma unroll
  for (unsigned width = kSize / 2; width > 0; width /= 2) {
    own = own + __shfl_down_sync(kFullWarp, own, width, kSize);
  }
  return __shfl_sync(kFullWarp, own, 0, kSize);
}

__device__ __forceinline__ unsigned maximum(unsigned own) {
#pragma unroll
  for (unsigned width = kSize / 2; width > 0; width /= 2) {
    own = max(own, __shfl_xor_sync(kFullWarp, own, static_cast<int>(width), kSize));
  }
  return own;
}

/// The sum of the totals of all tiles of a chunk.
__device__ __forceinline__ double sum_of_tiles(const double* totals, std::size_t tiles) {
  double sum = 0;
  for (std::size_t t = lane(); t < tiles; t += kSize) sum = sum + totals[t];
  return tree_sum(sum);
}

}  // namespace trigram::cuda::team
