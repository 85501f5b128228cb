#include "cuda/kernels/grid.h"

#include <algorithm>

namespace trigram::cuda {
namespace {

// The number of blocks of kBlock threads that a multiprocessor runs at once: 2,048 threads.
constexpr unsigned kBlocksPerMultiprocessor = 8;

}  // namespace

unsigned blocks_for(std::size_t steps, unsigned resident) {
  const std::size_t blocks = (steps + kBlock - 1) / kBlock;
  return static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, resident));
}

unsigned blocks_for(std::size_t steps) {
  return blocks_for(steps, multiprocessors() * kBlocksPerMultiprocessor);
}

}  // namespace trigram::cuda
