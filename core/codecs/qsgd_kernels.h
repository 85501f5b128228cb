#pragma once

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

  std::size_t code_bytes(std::size_t numel) const {
    return (numel * static_cast<std::size_t>(bits) + 7) / 8;
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
