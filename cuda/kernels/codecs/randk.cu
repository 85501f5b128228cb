#include "cuda/kernels/codecs/randk.h"

#include "cuda/kernels/codecs/background.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/kernels/grid.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::randk {
namespace {

constexpr std::size_t kHeaderWords = 2;  // words for the seed

__global__ void gather(const float* x, std::uint64_t seed, const RandomSubset subset, float scale,
                       std::uint32_t kept, const std::uint32_t* not_finite, std::byte* wire) {
  const bool aligned = is_aligned(wire, 4), finite = *not_finite == 0;
  const std::size_t thread = grid_thread();
  if (thread < kHeaderWords)
    store_codes(wire, thread, static_cast<std::uint32_t>(seed >> 32 * thread), aligned);
  for (std::size_t i = thread; i < kept; i += grid_threads()) {
    const float value = __fmul_rn(scale, x[subset[static_cast<std::uint32_t>(i)]]);
    store_codes(wire, kHeaderWords + i, finite ? __float_as_uint(value) : 0x7FC00000, aligned);
  }
}

__global__ void scatter(const std::byte* wire, const RandomSubset any, std::uint32_t kept,
                        float* x) {
  const bool aligned = is_aligned(wire, 4);
  const std::uint64_t high = load_codes(wire, 1, aligned);
  const RandomSubset subset = any.with_seed(high << 32 | load_codes(wire, 0, aligned));
  for (std::size_t i = grid_thread(); i < kept; i += grid_threads()) {
    x[subset[static_cast<std::uint32_t>(i)]] =
        __uint_as_float(load_codes(wire, kHeaderWords + i, aligned));
  }
}

}  // namespace

void encode(cudaStream_t stream, const float* x, std::uint64_t seed, const RandomSubset& subset,
            float scale, std::uint32_t kept, const std::uint32_t* not_finite, std::byte* wire) {
  launch(stream, {.grid = blocks_for(kept), .block = kBlock}, gather, x, seed, subset, scale, kept,
         not_finite, wire);
}

void decode(cudaStream_t stream, const std::byte* wire, const RandomSubset& subset,
            std::uint32_t kept, float* x, std::size_t numel) {
  fill_background(stream, wire + kHeaderWords * sizeof(float), x, numel);
  launch(stream, {.grid = blocks_for(kept), .block = kBlock}, scatter, wire, subset, kept, x);
}

}  // namespace trigram::cuda::randk
