#include "cuda/kernels/normal.h"

#include "core/random/philox.h"
#include "cuda/kernels/grid.h"

namespace trigram::cuda {
namespace {

struct Draws {
  Philox::Block counter;  // the counter of block 0
  Philox::Key key;
  std::uint32_t first_block;
  unsigned used;  // number of words of the first block that were already drawn
};

__device__ Philox::Block block_of(const Draws& draws, std::uint32_t index) {
  return Philox::encrypt({index, draws.counter[1], draws.counter[2], draws.counter[3]}, draws.key);
}

// A number takes four words. They span two blocks if single words were drawn before.
__global__ void normal_kernel(std::size_t n, float* x, Draws draws) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) {
    const auto index = static_cast<std::uint32_t>(draws.first_block + i);
    Philox::Block words = block_of(draws, index);
    if (draws.used > 0) {
      const Philox::Block next = block_of(draws, index + 1);
      Philox::Block both = {};
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned at = draws.used + j;
        both[j] = at < 4 ? words[at] : next[at - 4];
      }
      words = both;
    }
    x[i] = Philox::normal_of(words);
  }
}

}  // namespace

void fill_normal(cudaStream_t stream, std::size_t n, float* x, const Philox& random) {
  if (n == 0) return;
  const std::uint64_t begin = random.drawn();
  const Draws draws{random.counter(0), random.key(), static_cast<std::uint32_t>(begin / 4),
                    static_cast<unsigned>(begin % 4)};
  launch(stream, {.grid = blocks_for(n)}, normal_kernel, n, x, draws);
}

}  // namespace trigram::cuda
