#pragma once

#include <bit>
#include <cstdint>

#include "core/tensor.h"

namespace trigram {

/// Conversions between f32 and the 16-bit formats by bit manipulation. Rounding is to nearest, ties
/// to even; overflow gives infinity; subnormals are kept; NaN stays a (quiet) NaN.

constexpr float f32_from_bf16(std::uint16_t h) {
  return std::bit_cast<float>(std::uint32_t{h} << 16);
}

constexpr std::uint16_t bf16_from_f32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>(bits >> 16 | 0x0040);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

constexpr float f32_from_f16(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16;
  const std::uint32_t magnitude = h & 0x7FFFu;
  if (magnitude >= 0x7C00) {  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7F800000 | (magnitude & 0x3FF) << 13 |
                                (magnitude > 0x7C00 ? 0x00400000u : 0u));
  }
  if (magnitude < 0x0400) {  // a multiple of 2^-24, exact
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + ((127u - 15u) << 23)));
}

constexpr std::uint16_t f16_from_f32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000) {
    half = 0x7E00 | (magnitude >> 13 & 0x3FF);
  } else if (magnitude >= 0x477FF000) {  // rounds to 2^16 or more
    half = 0x7C00;
  } else if (magnitude < 0x38800000) {
    // Less than 2^-14. Adding 0.5 rounds to a multiple of 2^-24, the spacing of f16 subnormals.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  } else {
    half = (magnitude + 0xFFF + (magnitude >> 13 & 1) - ((127u - 15u) << 23)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

/// Rounds to nearest, ties to even, and clamps to 0 .. 255; NaN gives 0.
constexpr std::uint8_t u8_from_f32(float x) {
  if (!(x > 0)) return 0;
  if (x >= 255) return 255;
  // The last bit of a float near 2^23 has the value 1.
  return static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(x + 0x1p23f) & 0xFF);
}

}  // namespace trigram

/// How each element type is stored and converted to and from f32. The functions are constexpr so
/// that GPU kernels can call them too.
namespace trigram::element {

struct F32 {
  using Stored = float;
  static constexpr float load(Stored x) { return x; }
  static constexpr Stored store(float x) { return x; }
};
struct BF16 {
  using Stored = std::uint16_t;
  static constexpr float load(Stored x) { return f32_from_bf16(x); }
  static constexpr Stored store(float x) { return bf16_from_f32(x); }
};
struct F16 {
  using Stored = std::uint16_t;
  static constexpr float load(Stored x) { return f32_from_f16(x); }
  static constexpr Stored store(float x) { return f16_from_f32(x); }
};
struct U8 {
  using Stored = std::uint8_t;
  static constexpr float load(Stored x) { return x; }
  static constexpr Stored store(float x) { return u8_from_f32(x); }
};

/// Calls visit(F32{}), visit(BF16{}), ... for the given type.
template <class Visit>
void visit_type(DType type, const Visit& visit) {
  switch (type) {
    case DType::f32: return visit(F32{});
    case DType::bf16: return visit(BF16{});
    case DType::f16: return visit(F16{});
    case DType::u8: return visit(U8{});
  }
}

}  // namespace trigram::element
