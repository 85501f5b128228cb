#pragma once

#include <cuda_runtime.h>

namespace trigram::cuda {

/// The sum over a block of kThreads threads, in a fixed order. kThreads must be a multiple of 32.
/// All threads get the sum. `shared` has kThreads / 32 values and may be reused after the call.
template <unsigned kThreads, class T>
__device__ __forceinline__ T block_sum(T value, T* shared) {
  constexpr unsigned kWarps = kThreads / 32;
  static_assert(kThreads % 32 == 0 && kWarps <= 32);
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFF, value, distance);
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  T sum = shared[0];
  for (unsigned warp = 1; warp < kWarps; ++warp) sum += shared[warp];
  __syncthreads();
  return sum;
}

}  // namespace trigram::cuda
