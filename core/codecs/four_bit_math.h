#pragma once

#include <cstdint>

/// The format of the codec e3m0 (core/codecs/four_bit.cpp), which the host and accelerators share.
/// A magnitude is the bit pattern of |x|.
namespace trigram::four_bit {

inline constexpr std::uint32_t kInfinity = 0x7F800000;

/// Blocks whose values are all 0, or all NaN.
enum class Special { none, zero, nan };

/// A block's scale of e3m0: the biased exponent of its largest element, rounded to a power of two,
/// which has the code 7. A code c > 0 stands for the power of two whose biased exponent is
/// top - 7 + c, and 0 for 0.
struct Exponents {
  std::uint32_t top = 0;

  /// 255 if an element is NaN or infinite.
  static constexpr Exponents of_largest(std::uint32_t magnitude) {
    if (magnitude >= kInfinity) return {255};
    const std::uint32_t rounded = (magnitude + 0x400000) >> 23;
    return {rounded < 255 ? rounded : 254};
  }
  /// Blocks below 2^-119 are 0, so that all powers of two are normal numbers.
  constexpr Special special() const {
    return top == 255 ? Special::nan : top < 8 ? Special::zero : Special::none;
  }
  /// The code of the nearest value, halves up, with the sign in bit 3.
  constexpr std::uint32_t code(std::uint32_t bits) const {
    const std::uint32_t magnitude = bits & 0x7FFFFFFF, rounded = (magnitude + 0x400000) >> 23;
    if (special() != Special::none || (magnitude >> 23) + 7 < top) return 0;
    const std::uint32_t exponent = rounded < top ? rounded : top;
    return (exponent + 7 > top ? exponent + 7 - top : 1) | bits >> 31 << 3;
  }
  /// The bits of the value of a code.
  constexpr std::uint32_t value(std::uint32_t code) const {
    if (special() == Special::nan) return 0x7FC00000;
    return (code & 7) == 0 ? 0 : (code & 8) << 28 | (top - 7 + (code & 7)) << 23;
  }
};

}  // namespace trigram::four_bit
