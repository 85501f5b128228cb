#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/random/philox.h"

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

/// The loops of the codec `qsgd`, compiled for every vector instruction set of the architecture and
/// chosen at run time. All versions give the same bits: arithmetic is element by element or in a
/// fixed order, and each element has its own random bits.
namespace trigram::qsgd {

struct Format {
  int levels = 127;  // s
  int bits = 8;      // bits of a code, which is in 0 .. 2s
  std::size_t bucket = 512;
  bool max_norm = false;

  constexpr std::size_t code_bytes(std::size_t numel) const {
    return (numel * static_cast<std::size_t>(bits) + 7) / 8;
  }
  /// The norm and the codes of a bucket of `numel` elements.
  constexpr std::size_t bucket_bytes(std::size_t numel) const {
    return sizeof(float) + code_bytes(numel);
  }
  constexpr std::size_t wire_bytes(std::size_t numel) const {
    const std::size_t rest = numel % bucket;
    return numel / bucket * bucket_bytes(bucket) + (rest > 0 ? bucket_bytes(rest) : 0);
  }
};

/// The norm as written to the wire: 0 if it is below 2^-100, so that s / norm is always finite.
constexpr float wire_norm(float norm) { return norm < 0x1p-100f ? 0 : norm; }

/// The rounding of an element: code = floor(x * scale + s + u), where u is uniform on [0, 1), in
/// fixed point with steps of 2^-15. `limit` is s 2^15, which is below 2^22. `scale` is the largest
/// f32 not above s 2^15 / norm with which no element is rounded beyond the limit.
struct Rounding {
  float scale = 0;
  float limit = 0;

  constexpr Rounding(int levels, float norm) : limit(static_cast<float>(levels << 15)) {
    if (norm == 0) return;
    scale = limit / norm;
    // Subtracting 1 from the bit pattern of a positive f32 gives the next smaller f32.
    while (norm * scale > limit) {
      scale = std::bit_cast<float>(std::bit_cast<std::uint32_t>(scale) - 1);
    }
  }
};

/// Number of blocks of random numbers that a bucket of `numel` elements uses: eight per 64
/// elements.
constexpr std::uint32_t random_blocks(std::size_t numel) {
  return static_cast<std::uint32_t>((numel + 63) / 64 * 8);
}

/// The f32 norm of a bucket; NaN if the norm or an element is not finite.
float norm(const Format& format, const float* x, std::size_t n);
/// Writes the packed codes of one bucket; all are 0 if the norm is NaN.
void encode(const Format& format, const float* x, std::size_t n, float norm, const Philox& random,
            std::uint32_t first_block, std::uint8_t* codes);
void decode(const Format& format, const std::uint8_t* codes, std::size_t n, float norm, float* x);

}  // namespace trigram::qsgd
