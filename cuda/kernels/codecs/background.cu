#include "cuda/kernels/codecs/background.h"

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
