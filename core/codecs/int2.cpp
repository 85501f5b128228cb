#include <limits>

#include "core/codecs/kernels.h"
#include "core/codecs/scaled_blocks.h"

namespace trigram {
namespace {

// Integers of 2 bits with a scale for each block of elements: x^ = q m / -2, where m is the element
// of largest magnitude with its sign, of two the positive one, and q is x / m * -2, rounded to
// nearest, ties to even, and at most 1. So the block's values are m, m / 2, 0 and -m / 2: with the
// sign in the scale, none of the four codes is wasted, as it would be with -1, 0 and 1. Elements
// beyond -m / 2 saturate, and lose up to half.
//
// The code is a contraction: 0 is a value, no element loses more than itself, and m loses nothing.
// A block with a NaN or an infinity decodes to NaN everywhere, so that a diverged run stays
// visible; blocks with magnitudes below 2^-110 decode to 0.
//
// Wire: the scales m / -2 of all blocks as f32, then the codes, the first of four in the lowest
// bits of a byte.
struct Int2 {
  static constexpr std::size_t kCodesPerByte = 4;
  static constexpr auto encode = int2::encode;
  static constexpr auto decode = int2::decode;
  static scaled_blocks::Steps steps(const float* x, std::size_t n) {
    const minmax_uint8::Range range = minmax_uint8::find_range(x, n);
    const float largest = range.max >= -range.min ? range.max : range.min;
    return scaled_blocks::Steps::of_largest(
        range.finite ? largest : std::numeric_limits<float>::quiet_NaN(), -2);
  }
};

}  // namespace

CodecEntry int2_codec_entry() {
  return scaled_blocks_entry<StepFormat<Int2>>(
      "int2",
      "2 bits per element: an integer from -2 to 1, with a scale for each block of elements, whose "
      "largest element becomes -2; for use with error feedback (MuLoCo, arXiv 2505.23725, has two "
      "bits, too)");
}

}  // namespace trigram
