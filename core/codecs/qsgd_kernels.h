#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/random/philox.h"

/// The loops of the codec `qsgd`, compiled for every vector instruction set of the architecture and
/// chosen at run time. All give the same bits: arithmetic is element by element or in fixed order,
/// and each element has its own random bits.
namespace trigram::qsgd {

struct Format {
  int levels = 127;  // s
  int bits = 8;      // of a code, which is 0 .. 2s
  std::size_t bucket = 512;
  bool max_norm = false;

  constexpr std::size_t code_bytes(std::size_t numel) const {
    return (numel * static_cast<std::size_t>(bits) + 7) / 8;
  }
  /// Of a bucket of `numel` elements: norm and codes.
  constexpr std::size_t bucket_bytes(std::size_t numel) const {
    return sizeof(float) + code_bytes(numel);
  }
  constexpr std::size_t wire_bytes(std::size_t numel) const {
    const std::size_t rest = numel % bucket;
    return numel / bucket * bucket_bytes(bucket) + (rest > 0 ? bucket_bytes(rest) : 0);
  }
};

/// What the wire says of a norm: one so small that s / norm is not finite is 0.
constexpr float wire_norm(float norm) { return norm < 0x1p-100f ? 0 : norm; }

/// Element by element:  code = floor(x * scale + s + u),  u uniform on [0, 1), in fixed point of
/// 2^-15: `limit` is s 2^15, which is below 2^22, `scale` the largest f32 up to s 2^15 / norm with
/// which no element, by its rounding, gets beyond the limit.
struct Rounding {
  float scale = 0;
  float limit = 0;

  constexpr Rounding(int levels, float norm) : limit(static_cast<float>(levels << 15)) {
    if (norm == 0) return;
    scale = limit / norm;
    // The f32 below a positive one has the pattern below.
    while (norm * scale > limit) {
      scale = std::bit_cast<float>(std::bit_cast<std::uint32_t>(scale) - 1);
    }
  }
};

/// Blocks of random numbers that a bucket of `numel` elements takes: eight for each 64 elements.
constexpr std::uint32_t random_blocks(std::size_t numel) {
  return static_cast<std::uint32_t>((numel + 63) / 64 * 8);
}

/// The f32 norm of a bucket; NaN if it or one of the elements is not finite.
float norm(const Format& format, const float* x, std::size_t n);
/// Codes of one bucket, packed. Where the norm is NaN, all are 0.
void encode(const Format& format, const float* x, std::size_t n, float norm, const Philox& random,
            std::uint32_t first_block, std::uint8_t* codes);
void decode(const Format& format, const std::uint8_t* codes, std::size_t n, float norm, float* x);

}  // namespace trigram::qsgd
