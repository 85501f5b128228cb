#include "cuda/kernels/grid.h"

#include <algorithm>

#include "cuda/support/error.h"

namespace trigram::cuda {
namespace {

// The number of blocks of kBlock threads that a multiprocessor runs at once: 2,048 threads.
constexpr unsigned kBlocksPerMultiprocessor = 8;

}  // namespace

unsigned multiprocessors() {
  static const unsigned count = [] {
    int device = 0, found = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    return static_cast<unsigned>(found);
  }();
  return count;
}

unsigned blocks_for(std::size_t steps, unsigned held) {
  const std::size_t blocks = (steps + kBlock - 1) / kBlock;
  return static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, held));
}

unsigned blocks_for(std::size_t steps) {
  return blocks_for(steps, multiprocessors() * kBlocksPerMultiprocessor);
}

}  // namespace trigram::cuda
