#pragma once

#include <cstdint>

namespace trigram {

// Converts eight codes of 1 to 8 bits each between one code per byte and a dense layout with code i
// at bit i * bits. Three steps move first pairs, then fours, then all eight codes together or
// apart.

constexpr std::uint64_t pack_eight(std::uint64_t bytes, int bits) {
  constexpr std::uint64_t kEven8 = 0x00FF00FF00FF00FF, kEven16 = 0x0000FFFF0000FFFF;
  bytes = (bytes & kEven8) | (bytes >> 8 & kEven8) << bits;
  bytes = (bytes & kEven16) | (bytes >> 16 & kEven16) << 2 * bits;
  return (bytes & 0xFFFFFFFF) | bytes >> 32 << 4 * bits;
}

/// Ignores the bits of `packed` above the eight codes.
constexpr std::uint64_t unpack_eight(std::uint64_t packed, int bits) {
  const std::uint64_t four = 0xFFFFFFFFu >> (32 - 4 * bits);
  const std::uint64_t two = (0xFFFFu >> (16 - 2 * bits)) * 0x0000000100000001;
  const std::uint64_t one = (0xFFu >> (8 - bits)) * 0x0001000100010001;
  packed = (packed & four) | (packed >> 4 * bits & four) << 32;
  packed = (packed & two) | (packed >> 2 * bits & two) << 16;
  return (packed & one) | (packed >> bits & one) << 8;
}

}  // namespace trigram
