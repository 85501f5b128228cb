#include "cuda/kernels/codecs/scaled_blocks.h"

#include "core/codecs/four_bit_math.h"
#include "core/codecs/fp8_math.h"
#include "core/codecs/scaled_blocks_math.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::scaled_blocks {
namespace {

using four_bit::Exponents;
using trigram::scaled_blocks::blocks_of;
using trigram::scaled_blocks::Steps;

constexpr unsigned kWarp = 32, kThreads = 256, kWarps = kThreads / kWarp, kAllLanes = 0xFFFFFFFF;

/// The element of largest magnitude of a block, of two the positive one; NaNs are above infinity.
struct Largest {
  std::uint32_t key = 0;  // the magnitude, then a bit that is set for positive numbers

  __device__ __forceinline__ static std::uint32_t key_of(float x) {
    const std::uint32_t bits = __float_as_uint(x);
    return bits << 1 | (bits >> 31 ^ 1);
  }
  __device__ __forceinline__ std::uint32_t magnitude() const { return key >> 1; }
  __device__ __forceinline__ float value() const {
    return __uint_as_float(key >> 1 | (key & 1 ? 0 : 0x80000000));
  }
};

// How a format encodes: it is made from a block's largest element or loaded from a wire's scale.

struct PowersOfTwo {
  static constexpr std::size_t kScaleBytes = 1, kCodesPerByte = 2;
  Exponents exponents;
  __device__ __forceinline__ explicit PowersOfTwo(Largest largest)
      : exponents(Exponents::of_largest(largest.magnitude())) {}
  __device__ __forceinline__ explicit PowersOfTwo(const std::byte* scale)
      : exponents{static_cast<std::uint32_t>(*scale)} {}
  __device__ __forceinline__ void store(std::byte* scale) const {
    *scale = static_cast<std::byte>(exponents.top);
  }
  __device__ __forceinline__ std::uint32_t code(float x) const {
    return exponents.code(__float_as_uint(x));
  }
  __device__ __forceinline__ float value(std::uint32_t code) const {
    return __uint_as_float(exponents.value(code));
  }
};

/// Numbers of a short format, which stand for multiples of a step.
template <class Numbers>
struct Multiples {
  static constexpr std::size_t kScaleBytes = sizeof(float), kCodesPerByte = Numbers::kCodesPerByte;
  Steps steps;
  __device__ __forceinline__ explicit Multiples(Largest largest) {
    const float value = Numbers::kIsSigned ? largest.value() : __uint_as_float(largest.magnitude());
    steps = Steps::of_largest(value, Numbers::kMost);
    if (steps.inverse != 0)
      steps = {__fdiv_rn(value, Numbers::kMost), __fdiv_rn(Numbers::kMost, value)};
  }
  __device__ __forceinline__ explicit Multiples(const std::byte* scale) {
    // Not an initializer: nvcc shows the initializers of a template to the host's compiler.
    steps = {__uint_as_float(load_codes(scale, 0, false)), 0};
  }
  __device__ __forceinline__ void store(std::byte* scale) const {
    store_codes(scale, 0, __float_as_uint(steps.step), false);
  }
  __device__ __forceinline__ std::uint32_t code(float x) const {
    return steps.inverse == 0 ? 0 : Numbers::code(__fmul_rn(x, steps.inverse));
  }
  __device__ __forceinline__ float value(std::uint32_t code) const {
    return __fmul_rn(Numbers::value(code), steps.step);
  }
};

/// Integers of `bits` bits up to kMost in magnitude.
template <int bits, int most, bool is_signed>
struct Integers {
  static constexpr std::size_t kCodesPerByte = 8 / bits;
  static constexpr float kMost = most;
  static constexpr bool kIsSigned = is_signed;
  static constexpr int kSign = 1 << (bits - 1);
  __device__ __forceinline__ static std::uint32_t code(float x) {
    const int q = max(min(static_cast<int>(rintf(x)), kSign - 1), -kSign);
    return static_cast<std::uint32_t>(q) & (2 * kSign - 1);
  }
  __device__ __forceinline__ static float value(std::uint32_t code) {
    return static_cast<float>(static_cast<int>(code ^ kSign) - kSign);
  }
};

template <class Float>
struct Floats {
  static constexpr std::size_t kCodesPerByte = 1;
  static constexpr float kMost = Float::value(Float::kMost);
  static constexpr bool kIsSigned = false;
  __device__ __forceinline__ static std::uint32_t code(float x) { return Float::code(x); }
  __device__ __forceinline__ static float value(std::uint32_t code) { return Float::value(code); }
};

/// The block of elements that a warp handles, with its scale and its codes on the wire.
struct Block {
  float* x;
  std::byte *scale, *codes;
  std::size_t count;  // 0 for a warp beyond the last block
};

template <class Coding>
__device__ __forceinline__ Block block_of_warp(const Chunk& chunk) {
  const std::size_t i = std::size_t{blockIdx.x} * kWarps + threadIdx.x / kWarp,
                    begin = i * chunk.block;
  return {chunk.x + begin, chunk.wire + i * Coding::kScaleBytes,
          chunk.wire + blocks_of(chunk.numel, chunk.block) * Coding::kScaleBytes +
              begin / Coding::kCodesPerByte,
          begin < chunk.numel ? min(chunk.block, chunk.numel - begin) : 0};
}

__device__ __forceinline__ unsigned lane_of_warp() { return threadIdx.x % kWarp; }

/// All threads of the warp call it.
__device__ __forceinline__ Largest largest_of(const Block& block) {
  std::uint32_t own = 0;
  for (std::size_t i = lane_of_warp(); i < block.count; i += kWarp)
    own = max(own, Largest::key_of(block.x[i]));
#pragma unroll
  for (int width = kWarp / 2; width > 0; width /= 2)
    own = max(own, __shfl_xor_sync(kAllLanes, own, width));
  return {own};
}

template <class Coding>
__global__ void __launch_bounds__(kThreads) encode_blocks(const Chunk chunk) {
  constexpr std::size_t kPerByte = Coding::kCodesPerByte, kBits = 8 / kPerByte;
  const Block block = block_of_warp<Coding>(chunk);
  const Coding coding(largest_of(block));
  if (block.count == 0) return;
  if (lane_of_warp() == 0) coding.store(block.scale);
  for (std::size_t i = kPerByte * lane_of_warp(); i < block.count; i += kPerByte * kWarp) {
    std::uint32_t packed = 0;
    for (std::size_t j = 0; j < kPerByte && i + j < block.count; ++j)
      packed |= coding.code(block.x[i + j]) << kBits * j;
    block.codes[i / kPerByte] = static_cast<std::byte>(packed);
  }
}

template <class Coding>
__global__ void __launch_bounds__(kThreads) decode_blocks(const Chunk chunk) {
  constexpr std::size_t kPerByte = Coding::kCodesPerByte, kBits = 8 / kPerByte;
  const Block block = block_of_warp<Coding>(chunk);
  if (block.count == 0) return;
  const Coding coding(block.scale);
  for (std::size_t i = lane_of_warp(); i < block.count; i += kWarp) {
    const auto packed = static_cast<std::uint32_t>(block.codes[i / kPerByte]);
    block.x[i] = coding.value(packed >> kBits * (i % kPerByte) & ((1u << kBits) - 1));
  }
}

/// Calls visit with a null pointer to the Coding of `format`.
template <class Visit>
void visit_format(Format format, const Visit& visit) {
  switch (format) {
    case Format::e3m0: return visit(static_cast<PowersOfTwo*>(nullptr));
    case Format::int4: return visit(static_cast<Multiples<Integers<4, 7, false>>*>(nullptr));
    case Format::int2: return visit(static_cast<Multiples<Integers<2, -2, true>>*>(nullptr));
    case Format::fp8_e4m3: return visit(static_cast<Multiples<Floats<fp8::E4M3>>*>(nullptr));
    case Format::fp8_e5m2: return visit(static_cast<Multiples<Floats<fp8::E5M2>>*>(nullptr));
  }
}

Launch shape(const Chunk& chunk) {
  const std::size_t blocks = blocks_of(chunk.numel, chunk.block);
  return {.grid = static_cast<unsigned>((blocks + kWarps - 1) / kWarps), .block = kThreads};
}

}  // namespace

void encode(cudaStream_t stream, Format format, const Chunk& chunk) {
  if (chunk.numel == 0) return;
  visit_format(format, [&]<class Coding>(Coding*) {
    launch(stream, shape(chunk), encode_blocks<Coding>, chunk);
  });
}

void decode(cudaStream_t stream, Format format, const Chunk& chunk) {
  if (chunk.numel == 0) return;
  visit_format(format, [&]<class Coding>(Coding*) {
    launch(stream, shape(chunk), decode_blocks<Coding>, chunk);
  });
}

std::size_t codes_per_byte(Format format) {
  std::size_t result = 0;
  visit_format(format, [&]<class Coding>(Coding*) { result = Coding::kCodesPerByte; });
  return result;
}

}  // namespace trigram::cuda::scaled_blocks
