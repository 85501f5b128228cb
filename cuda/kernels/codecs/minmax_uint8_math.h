#pragma once

#include "core/codecs/minmax_uint8_grid.h"
#include "cuda/kernels/codecs/words.h"

/// The arithmetic of MinMaxUInt8 on words. Element by element it rounds as the host's does.
namespace trigram::cuda::minmax_uint8 {

using trigram::minmax_uint8::Grid;
using trigram::minmax_uint8::Range;

inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Words of codes on the wire: whole units of 32 bytes.
template <class Index>
__host__ __device__ constexpr Index code_words(Index numel) {
  return (numel + 31) / 32 * 8;
}

/// The extremes of what one or more threads have seen. A vector with a NaN or an infinity has no
/// difference of extremes in f32, which is all that the wire tells of it: so `high` may stand for
/// them as infinity.
struct Extremes {
  float low = kInfinity, high = -kInfinity;

  __device__ __forceinline__ void add(const Extremes& other) {
    low = fminf(low, other.low);
    high = fmaxf(high, other.high);
  }
  /// The range; that of no element is 0 .. 0. The minimum of two zeros may be either: + 0 makes
  /// them one.
  __device__ __forceinline__ Range range() const {
    if (low > high) return {};
    return trigram::minmax_uint8::wire_range({__fadd_rn(low, 0), __fadd_rn(high, 0), true});
  }
};

/// What a thread sees of many words.
struct Scan {
  Extremes extremes;
  float poison = 0;  // NaN once there was one, or an infinity: x * 0 is not 0 for them alone

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

/// Codes by the grid. `exact` grids need two operations per code: the neighbours of 1.5 * 2^23 are
/// the integers, so that adding it rounds, and the integer appears in the low bits of the sum.
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
  /// The codes of a word, of whose elements the first `count` exist; the others' are 0.
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

/// What codes of one wire stand for. A division per element costs more than its traffic, so it is
/// replaced by a product with 1/scale in two parts, if that gives the quotient of every one of the
/// 256 codes to the last bit, which is tried: `agrees`.
struct Decoder {
  static constexpr std::uint32_t kPattern = 0x4B000000;  // of 2^23
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
  /// The same for the f32 2^23 + code: its pattern has the code in its low bits.
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

/// The header's word `w` of eight.
__device__ __forceinline__ void write_header_word(std::byte* wire, unsigned w, const Range& range) {
  const std::uint32_t word = w == 0   ? __float_as_uint(range.min)
                             : w == 1 ? __float_as_uint(range.max)
                                      : 0;
  store_codes(wire, w, word, is_aligned(wire, 4));
}

}  // namespace trigram::cuda::minmax_uint8
