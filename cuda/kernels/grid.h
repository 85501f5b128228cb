#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cuda/support/launch.h"

namespace trigram::cuda {

inline constexpr unsigned kBlock = 256;  // threads per block

/// The number of blocks of kBlock threads of this kernel that the GPU runs at once. More blocks
/// would run in a second, uneven wave.
template <class... Parameters>
unsigned resident_blocks(void (*kernel)(Parameters...)) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kBlock, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return multiprocessors() * static_cast<unsigned>(blocks);
}

/// The number of blocks of kBlock threads for a loop of `steps` steps over all threads of the grid.
/// It is as large as the steps need, but at least one and at most `resident`.
unsigned blocks_for(std::size_t steps, unsigned resident);
/// The number of blocks for a kernel with up to 32 registers per thread.
unsigned blocks_for(std::size_t steps);

/// The index of the thread in the grid, and the number of threads of the grid. They are the first
/// step and the stride of a thread's loop.
__device__ __forceinline__ std::size_t grid_thread() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::size_t grid_threads() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

}  // namespace trigram::cuda
