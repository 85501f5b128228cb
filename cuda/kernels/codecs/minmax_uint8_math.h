#pragma once

#include "core/codecs/minmax_uint8_grid.h"
#include "cuda/kernels/codecs/words.h"

/// The arithmetic of MinMaxUInt8 on words. Each element is rounded exactly as on the host.
namespace trigram::cuda::minmax_uint8 {

using trigram::minmax_uint8::Grid;
using trigram::minmax_uint8::Range;

inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The number of words for the codes on the wire, in whole units of 32 bytes.
template <class Index>
__host__ __device__ constexpr Index code_words(Index numel) {
  return (numel + 31) / 32 * 8;
}

/// The extremes that one or more threads have seen. An infinite `high` means that the vector has a
/// NaN or an infinity; a receiver of the wire then only learns that the range is not finite.
struct Extremes {
  float low = kInfinity, high = -kInfinity;

  __device__ __forceinline__ void add(const Extremes& other) {
    low = fminf(low, other.low);
    high = fmaxf(high, other.high);
  }
  /// The range; 0 .. 0 if there are no elements. The minimum of two zeros may be -0 or +0; adding
  /// +0 turns both into +0.
  __device__ __forceinline__ Range range() const {
    if (low > high) return {};
    return trigram::minmax_uint8::wire_range({__fadd_rn(low, 0), __fadd_rn(high, 0), true});
  }
};

/// The extremes over a warp. All its threads must call it together, and all get the result.
__device__ __forceinline__ Extremes over_warp(Extremes own) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    own.add(
        {__shfl_xor_sync(0xFFFFFFFF, own.low, step), __shfl_xor_sync(0xFFFFFFFF, own.high, step)});
  }
  return own;
}

/// Collects the extremes of the words that a thread sees.
struct Scan {
  Extremes extremes;
  float poison = 0;  // becomes NaN with the first NaN or infinity: x * 0 is 0 for all other x

  __device__ __forceinline__ void add(float x) {
    extremes.low = fminf(extremes.low, x);
    extremes.high = fmaxf(extremes.high, x);
    poison = __fmaf_rn(x, 0.0f, poison);
  }
  __device__ __forceinline__ void add(float4 v) {
    add(v.x);
    add(v.y);
    add(v.z);
    add(v.w);
  }
  __device__ __forceinline__ Extremes result() const {
    Extremes all = extremes;
    if (!(poison == 0)) {
      all.low = 0;
      all.high = kInfinity;
    }
    return all;
  }
};

/// Encodes elements by the grid. For grids that are `exact`, a code takes two operations: f32
/// numbers near 1.5 * 2^23 are integers, so adding this number rounds, and the integer is in the
/// low bits of the sum.
class Quantizer {
 public:
  __device__ __forceinline__ explicit Quantizer(const Grid& grid)
      : grid_(grid),
        zero_(0x4B400000u +
              static_cast<std::uint32_t>(grid.exact ? static_cast<int>(grid.lower) : 0)) {}

  __device__ __forceinline__ std::uint32_t exact(float x) const {
    return __float_as_uint(__fadd_rn(__fmul_rn(x, grid_.scale), 12582912.0f)) - zero_;
  }
  __device__ __forceinline__ std::uint32_t by_formula(float x) const {
    const float point = fminf(rintf(__fmul_rn(x, grid_.scale)), grid_.upper);
    const float code = __fsub_rn(point, grid_.lower);
    return static_cast<std::uint32_t>(fminf(fmaxf(code, 0.0f), 255.0f));
  }
  /// The codes of a word that has only its first `count` elements; other codes are 0.
  __device__ __forceinline__ std::uint32_t word(float4 v, unsigned count) const {
    if (!grid_.has_codes()) return 0;
    const std::uint32_t codes =
        grid_.exact ? packed(exact(v.x), exact(v.y), exact(v.z), exact(v.w))
                    : packed(by_formula(v.x), by_formula(v.y), by_formula(v.z), by_formula(v.w));
    return count == 4 ? codes : codes & ((1u << 8 * count) - 1);
  }

 private:
  static __device__ __forceinline__ std::uint32_t packed(std::uint32_t a, std::uint32_t b,
                                                         std::uint32_t c, std::uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
  }
  Grid grid_;
  std::uint32_t zero_;
};

/// Decodes the codes of one wire. A division would take longer than an element's memory traffic, so
/// codes are multiplied by 1/scale, held as the sum of `inverse` and `rest`. This fast path is
/// used if product and quotient have the same bits for all 256 codes, which `agrees` tests for one
/// code.
struct Decoder {
  static constexpr std::uint32_t kPattern = 0x4B000000;  // bits of the f32 2^23
  float scale, lower, constant;
  bool has_codes, fast;
  float inverse, rest, offset;

  __device__ explicit Decoder(const Range& range) {
    const Grid grid = trigram::minmax_uint8::grid_of(range);
    scale = grid.scale;
    lower = grid.lower;
    constant = range.max;
    has_codes = grid.has_codes();
    fast = has_codes;
    inverse = __fdiv_rn(1.0f, scale);
    rest = __fmul_rn(__fmaf_rn(-inverse, scale, 1.0f), inverse);
    offset = __fsub_rn(lower, 8388608.0f);
  }
  __device__ __forceinline__ float quotient(std::uint32_t code) const {
    if (!has_codes) return constant;
    return __fdiv_rn(__fadd_rn(static_cast<float>(code), lower), scale);
  }
  /// Equals quotient() if `fast` is true. The code is passed as the bits of the f32 2^23 + code,
  /// whose low bits are the code.
  __device__ __forceinline__ float product(std::uint32_t pattern) const {
    const float point = __fadd_rn(__uint_as_float(pattern), offset);
    return __fmaf_rn(point, inverse, __fmul_rn(point, rest));
  }
  __device__ __forceinline__ bool agrees(std::uint32_t code) const {
    return __float_as_uint(product(kPattern | code)) == __float_as_uint(quotient(code));
  }
  __device__ __forceinline__ float4 word(std::uint32_t codes) const {
    return {quotient(codes & 0xFF), quotient(codes >> 8 & 0xFF), quotient(codes >> 16 & 0xFF),
            quotient(codes >> 24)};
  }
  __device__ __forceinline__ float4 fast_word(std::uint32_t codes) const {
    return {product(__byte_perm(codes, kPattern, 0x7440)),
            product(__byte_perm(codes, kPattern, 0x7441)),
            product(__byte_perm(codes, kPattern, 0x7442)),
            product(__byte_perm(codes, kPattern, 0x7443))};
  }
};

__device__ __forceinline__ Range read_header(const std::byte* wire) {
  const bool aligned = is_aligned(wire, 4);
  return {__uint_as_float(load_codes(wire, 0, aligned)),
          __uint_as_float(load_codes(wire, 1, aligned)), true};
}

/// Writes word `w` of the eight words of the header.
__device__ __forceinline__ void write_header_word(std::byte* wire, unsigned w, const Range& range) {
  const std::uint32_t word = w == 0   ? __float_as_uint(range.min)
                             : w == 1 ? __float_as_uint(range.max)
                                      : 0;
  store_codes(wire, w, word, is_aligned(wire, 4));
}

}  // namespace trigram::cuda::minmax_uint8
