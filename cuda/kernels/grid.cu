#include "cuda/kernels/grid.h"

#include <algorithm>

#include "cuda/error.h"

namespace trigram::cuda {
namespace {

// Blocks of kBlock threads that a multiprocessor holds at once: 2,048 threads.
constexpr std::size_t kBlocksPerMultiprocessor = 8;

std::size_t blocks_held() {
  static const std::size_t held = [] {
    int device = 0, multiprocessors = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    return static_cast<std::size_t>(multiprocessors) * kBlocksPerMultiprocessor;
  }();
  return held;
}

}  // namespace

unsigned blocks_for(std::size_t steps) {
  const std::size_t blocks = (steps + kBlock - 1) / kBlock;
  return static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, blocks_held()));
}

}  // namespace trigram::cuda
