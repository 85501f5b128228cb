#include "cuda/kernels/codecs/four_bit.h"

#include "core/codecs/four_bit_math.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::four_bit {
namespace {

using trigram::four_bit::blocks_of;
using trigram::four_bit::Exponents;
using trigram::four_bit::Special;
using trigram::four_bit::Steps;

constexpr unsigned kWarp = 32, kThreads = 256, kWarps = kThreads / kWarp, kAllLanes = 0xFFFFFFFF;

/// The block of elements that a warp handles, with its scale and its codes on the wire.
struct Block {
  float* x;
  std::byte *scale, *codes;
  std::size_t count;  // 0 for a warp beyond the last block
  __device__ __forceinline__ explicit Block(const Chunk& chunk) {
    const std::size_t i = std::size_t{blockIdx.x} * kWarps + threadIdx.x / kWarp,
                      begin = i * chunk.block,
                      scale_bytes = chunk.format == Format::e3m0 ? 1 : sizeof(float);
    x = chunk.x + begin;
    scale = chunk.wire + i * scale_bytes;
    codes = chunk.wire + blocks_of(chunk.numel, chunk.block) * scale_bytes + begin / 2;
    count = begin < chunk.numel ? min(chunk.block, chunk.numel - begin) : 0;
  }
};

__device__ __forceinline__ unsigned lane_of_warp() { return threadIdx.x % kWarp; }

/// The largest magnitude of a block. All threads of the warp call it.
__device__ __forceinline__ std::uint32_t largest(const Block& block) {
  std::uint32_t own = 0;
  for (std::size_t i = lane_of_warp(); i < block.count; i += kWarp)
    own = max(own, __float_as_uint(block.x[i]) & 0x7FFFFFFF);
#pragma unroll
  for (int width = kWarp / 2; width > 0; width /= 2)
    own = max(own, __shfl_xor_sync(kAllLanes, own, width));
  return own;
}

/// Writes the codes `code(x)` of a block, a byte per thread and turn.
template <class Code>
__device__ __forceinline__ void pack(const Block& block, const Code& code) {
  for (std::size_t i = 2 * lane_of_warp(); i < block.count; i += 2 * kWarp) {
    const std::uint32_t high = i + 1 < block.count ? code(block.x[i + 1]) : 0;
    block.codes[i / 2] = static_cast<std::byte>(code(block.x[i]) | high << 4);
  }
}

__device__ __forceinline__ Steps steps_of(float magnitude) {
  const Steps steps = Steps::of_largest(magnitude);
  if (steps.inverse == 0) return steps;
  return {__fdiv_rn(magnitude, 7.0f), __fdiv_rn(7.0f, magnitude)};
}

__global__ void __launch_bounds__(kThreads) encode_blocks(const Chunk chunk) {
  const Block block(chunk);
  const std::uint32_t magnitude = largest(block);
  if (block.count == 0) return;
  if (chunk.format == Format::e3m0) {
    const Exponents exponents = Exponents::of_largest(magnitude);
    if (lane_of_warp() == 0) *block.scale = static_cast<std::byte>(exponents.top);
    return pack(block, [&](float x) { return exponents.code(__float_as_uint(x)); });
  }
  const Steps steps = steps_of(__uint_as_float(magnitude));
  if (lane_of_warp() == 0) store_codes(block.scale, 0, __float_as_uint(steps.step), false);
  pack(block, [&](float x) -> std::uint32_t {
    if (steps.inverse == 0) return 0;
    return static_cast<std::uint32_t>(static_cast<int>(rintf(__fmul_rn(x, steps.inverse)))) & 15;
  });
}

__global__ void __launch_bounds__(kThreads) decode_blocks(const Chunk chunk) {
  const Block block(chunk);
  if (block.count == 0) return;
  const bool is_float = chunk.format == Format::e3m0;
  const Exponents exponents{is_float ? static_cast<std::uint32_t>(*block.scale) : 0};
  const float step = is_float ? 0 : __uint_as_float(load_codes(block.scale, 0, false));
  for (std::size_t i = lane_of_warp(); i < block.count; i += kWarp) {
    const std::uint32_t code = static_cast<std::uint32_t>(block.codes[i / 2]) >> 4 * (i % 2) & 15;
    block.x[i] = is_float ? __uint_as_float(exponents.value(code))
                          : __fmul_rn(static_cast<float>(static_cast<int>(code ^ 8) - 8), step);
  }
}

Launch shape(const Chunk& chunk) {
  const std::size_t blocks = blocks_of(chunk.numel, chunk.block);
  return {.grid = static_cast<unsigned>((blocks + kWarps - 1) / kWarps), .block = kThreads};
}

}  // namespace

void encode(cudaStream_t stream, const Chunk& chunk) {
  if (chunk.numel > 0) launch(stream, shape(chunk), encode_blocks, chunk);
}

void decode(cudaStream_t stream, const Chunk& chunk) {
  if (chunk.numel > 0) launch(stream, shape(chunk), decode_blocks, chunk);
}

}  // namespace trigram::cuda::four_bit
