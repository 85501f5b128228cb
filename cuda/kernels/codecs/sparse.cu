#include "cuda/kernels/codecs/sparse.h"

#include "cuda/kernels/codecs/words.h"
#include "cuda/kernels/grid.h"
#include "cuda/support/launch.h"

namespace trigram::cuda {
namespace {

__global__ void fill_by(const std::byte* first_value, float* x, std::size_t numel) {
  const std::uint32_t bits = load_codes(first_value, 0, is_aligned(first_value, 4));
  const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  const float value = is_nan ? __uint_as_float(bits) : 0;
  const bool aligned = is_aligned(x, 16);
  for (std::size_t w = grid_thread(); 4 * w < numel; w += grid_threads())
    store_word(x, w, float4{value, value, value, value}, elements_of_word(numel, w), aligned);
}

__global__ void flag(const float* x, std::size_t numel, std::uint32_t* flag) {
  const bool aligned = is_aligned(x, 16);
  float poison = 0;  // becomes NaN with the first NaN or infinity: x * 0 is 0 for all other x
  for (std::size_t w = grid_thread(); 4 * w < numel; w += grid_threads()) {
    const float4 v = load_word(x, w, elements_of_word(numel, w), aligned);
    for (const float element : {v.x, v.y, v.z, v.w}) poison = __fmaf_rn(element, 0.0f, poison);
  }
  if (!(poison == 0)) atomicOr(flag, 1);
}

}  // namespace

void fill_background(cudaStream_t stream, const std::byte* first_value, float* x,
                     std::size_t numel) {
  launch(stream, {.grid = blocks_for((numel + 3) / 4), .block = kBlock}, fill_by, first_value, x,
         numel);
}

void flag_not_finite(cudaStream_t stream, const float* x, std::size_t numel, std::uint32_t* word) {
  launch(stream, {.grid = blocks_for((numel + 3) / 4), .block = kBlock}, flag, x, numel, word);
}

}  // namespace trigram::cuda

namespace trigram::cuda::randk {
namespace {

constexpr std::size_t kHeaderWords = 2;  // words for the seed

__global__ void gather(const float* x, std::uint64_t seed, const RandomPermutation permutation,
                       float scale, std::uint32_t kept, const std::uint32_t* not_finite,
                       std::byte* wire) {
  const bool aligned = is_aligned(wire, 4), finite = *not_finite == 0;
  const std::size_t thread = grid_thread();
  if (thread < kHeaderWords)
    store_codes(wire, thread, static_cast<std::uint32_t>(seed >> 32 * thread), aligned);
  for (std::size_t i = thread; i < kept; i += grid_threads()) {
    const float value = __fmul_rn(scale, x[permutation[static_cast<std::uint32_t>(i)]]);
    store_codes(wire, kHeaderWords + i, finite ? __float_as_uint(value) : 0x7FC00000, aligned);
  }
}

__global__ void scatter(const std::byte* wire, const RandomPermutation any, std::uint32_t kept,
                        float* x) {
  const bool aligned = is_aligned(wire, 4);
  const std::uint64_t high = load_codes(wire, 1, aligned);
  const RandomPermutation permutation = any.with_seed(high << 32 | load_codes(wire, 0, aligned));
  for (std::size_t i = grid_thread(); i < kept; i += grid_threads()) {
    x[permutation[static_cast<std::uint32_t>(i)]] =
        __uint_as_float(load_codes(wire, kHeaderWords + i, aligned));
  }
}

}  // namespace

void encode(cudaStream_t stream, const float* x, std::uint64_t seed,
            const RandomPermutation& permutation, float scale, std::uint32_t kept,
            const std::uint32_t* not_finite, std::byte* wire) {
  launch(stream, {.grid = blocks_for(kept), .block = kBlock}, gather, x, seed, permutation, scale,
         kept, not_finite, wire);
}

void decode(cudaStream_t stream, const std::byte* wire, const RandomPermutation& permutation,
            std::uint32_t kept, float* x, std::size_t numel) {
  fill_background(stream, wire + kHeaderWords * sizeof(float), x, numel);
  launch(stream, {.grid = blocks_for(kept), .block = kBlock}, scatter, wire, permutation, kept, x);
}

}  // namespace trigram::cuda::randk
