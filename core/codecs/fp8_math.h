#pragma once

#include <bit>
#include <cstdint>

/// The formats of the codecs fp8_e4m3 and fp8_e5m2 (core/codecs/fp8.cpp), which the host and
/// accelerators share: floats of 8 bits as in the OCP 8-bit Floating Point Specification 1.0.
namespace trigram::fp8 {

/// A sign, an exponent with the given bias, and a mantissa of `mantissa_bits` bits. `most` is the
/// code of the largest finite number; codes above it, for infinity and NaN, are not used.
template <std::uint32_t mantissa_bits, std::uint32_t bias, std::uint32_t most>
struct Float8 {
  static constexpr std::uint32_t kMost = most;
  /// Bits of an f32's mantissa that a code lacks.
  static constexpr std::uint32_t kShift = 23 - mantissa_bits;
  /// The difference between an f32 without these bits and its code.
  static constexpr std::uint32_t kRebias = (127 - bias) << mantissa_bits;
  /// Codes below are multiples of kUnit; the bits of the f32 of the smallest other number.
  static constexpr std::uint32_t kFirstNormal = 1u << mantissa_bits;
  static constexpr std::uint32_t kSmallestNormal = (128 - bias) << 23;
  static constexpr float kUnit = std::bit_cast<float>((128 - bias - mantissa_bits) << 23);
  /// The last bit of an f32 near this number has the value kUnit.
  static constexpr std::uint32_t kRounder = (128 - bias - mantissa_bits + 23) << 23;

  /// The code of the number nearest to x, which is finite; of two, the even one. Larger numbers
  /// than the largest get its code.
  static constexpr std::uint32_t code(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t magnitude = bits & 0x7FFFFFFF;
    std::uint32_t result = 0;
    if (magnitude < kSmallestNormal)
      result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) +
                                            std::bit_cast<float>(kRounder)) -
               kRounder;
    else
      result =
          ((magnitude + (1u << (kShift - 1)) - 1 + (magnitude >> kShift & 1)) >> kShift) - kRebias;
    return (result < kMost ? result : kMost) | (bits >> 24 & 0x80);
  }
  static constexpr float value(std::uint32_t code) {
    const std::uint32_t magnitude = code & 0x7F;
    const float value = magnitude < kFirstNormal
                            ? static_cast<float>(magnitude) * kUnit
                            : std::bit_cast<float>((magnitude + kRebias) << kShift);
    return code & 0x80 ? -value : value;
  }
};

using E4M3 = Float8<3, 7, 0x7E>;
using E5M2 = Float8<2, 15, 0x7B>;

}  // namespace trigram::fp8
