#pragma once

#include <cstddef>
#include <limits>

/// What codecs whose blocks of elements share a scale have in common, on the host and on
/// accelerators. The wire has the scales of all blocks, then the codes; the first code of a byte is
/// in its low bits.
namespace trigram::scaled_blocks {

/// The number of blocks of a vector, each of which has a scale.
constexpr std::size_t blocks_of(std::size_t numel, std::size_t block) {
  return (numel + block - 1) / block;
}
constexpr std::size_t code_bytes(std::size_t numel, std::size_t codes_per_byte) {
  return (numel + codes_per_byte - 1) / codes_per_byte;
}

/// The scale of a block of numbers x^ = step q, where q is a number of a short format near
/// x * inverse.
struct Steps {
  float step = 0, inverse = 0;

  /// The smallest magnitude of a block that is not 0; below it the inverse may be infinite.
  static constexpr float kSmallest = 0x1p-110f;
  /// The scale with which the element of largest magnitude has q = `most`. All elements of a block
  /// are NaN if this element is not finite, and 0 if it is small.
  static constexpr Steps of_largest(float largest, float most) {
    if (largest - largest != 0) return {std::numeric_limits<float>::quiet_NaN(), 0};
    if (largest < kSmallest && largest > -kSmallest) return {0, 0};
    return {largest / most, most / largest};
  }
};

}  // namespace trigram::scaled_blocks
