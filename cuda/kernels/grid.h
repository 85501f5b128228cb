#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cuda/support/launch.h"

namespace trigram::cuda {

inline constexpr unsigned kBlock = 256;

unsigned multiprocessors();

/// How many blocks of kBlock threads of a kernel the GPU holds at once: more would be a second,
/// uneven turn.
template <class... Parameters>
unsigned blocks_held(void (*kernel)(Parameters...)) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kBlock, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return multiprocessors() * static_cast<unsigned>(blocks);
}

/// Blocks of kBlock threads for a loop of `steps` steps by all threads of the grid: as many as the
/// steps need, up to `held`, at least one.
unsigned blocks_for(std::size_t steps, unsigned held);
/// The same for a kernel of up to 32 registers.
unsigned blocks_for(std::size_t steps);

/// The thread's place in the grid, and the number of threads: the first step and the stride of its
/// loop.
__device__ __forceinline__ std::size_t grid_thread() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::size_t grid_threads() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

}  // namespace trigram::cuda
