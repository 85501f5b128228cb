#include <bit>

#include "core/codecs/kernels.h"
#include "core/codecs/scaled_blocks.h"

namespace trigram {
namespace {

using four_bit::Exponents;
using scaled_blocks::Steps;

// The two codecs have 4 bits per element and a scale for each block of elements:
//
//   e3m0:  a sign and 3 bits of exponent, no mantissa: 0 or a power of two, from the largest
//          magnitude of the block, rounded, to 1/64 of it (the 4-bit float of Streaming DiLoCo,
//          arXiv 2501.18512, which does not say how it scales). The scale is that exponent.
//   int4:  x^ = q m / 7, where q is x / m * 7, rounded to nearest, ties to even, and m the largest
//          magnitude of the block (symmetric integers, as in ZeRO++, arXiv 2306.10209). The scale
//          is m / 7.
//
// Both are contractions, since the largest element of a block loses less than half. A block with a
// NaN or an infinity decodes to NaN everywhere, so that a diverged run stays visible; blocks with
// magnitudes below 2^-119 (e3m0) or 2^-110 (int4) decode to 0.
//
// Wire: the scales of all blocks, 1 byte (e3m0) or an f32 (int4) each, then the codes, the first of
// two in the low half of a byte.

struct PowersOfTwo {
  static constexpr std::size_t kScaleBytes = 1, kCodesPerByte = 2;
  static void encode(const float* x, std::size_t n, std::byte* scale, std::uint8_t* codes) {
    const Exponents exponents = Exponents::of_largest(magnitudes::largest(x, n));
    *scale = static_cast<std::byte>(exponents.top);
    four_bit::encode(x, n, exponents, codes);
  }
  static void decode(const std::uint8_t* codes, std::size_t n, const std::byte* scale, float* x) {
    four_bit::decode(codes, n, Exponents{std::to_integer<std::uint32_t>(*scale)}, x);
  }
};

struct Int4 {
  static constexpr std::size_t kCodesPerByte = 2;
  static constexpr auto encode = four_bit::encode_integers;
  static constexpr auto decode = four_bit::decode_integers;
  static Steps steps(const float* x, std::size_t n) {
    return Steps::of_largest(std::bit_cast<float>(magnitudes::largest(x, n)), 7);
  }
};

}  // namespace

CodecEntry e3m0_codec_entry() {
  return scaled_blocks_entry<PowersOfTwo>(
      "e3m0",
      "4 bits per element: a sign and an exponent of 3 bits, with the largest exponent of each "
      "block of elements in a byte (Streaming DiLoCo, arXiv 2501.18512)");
}

CodecEntry int4_codec_entry() {
  return scaled_blocks_entry<StepFormat<Int4>>(
      "int4",
      "4 bits per element: an integer from -7 to 7, with a scale for each block of elements "
      "(ZeRO++, arXiv 2306.10209)");
}

}  // namespace trigram
