#include <bit>

#include "core/codecs/fp8_math.h"
#include "core/codecs/kernels.h"
#include "core/codecs/scaled_blocks.h"

namespace trigram {
namespace {

// Floats of 8 bits (OCP 8-bit Floating Point Specification 1.0; Micikevicius et al., arXiv
// 2209.05433) with a scale for each block of elements:
//
//   fp8_e4m3:  4 bits of exponent, 3 of mantissa; the largest number is 448
//   fp8_e5m2:  5 bits of exponent, 2 of mantissa; the largest number is 57344
//
// x^ = s q, where q is the float nearest to x / s, ties to even, and s makes the largest magnitude
// of the block the largest number of the format, as the papers scale a tensor. A quotient that is
// larger by rounding saturates. Both are contractions, since numbers that are not tiny lose at most
// 1/16 (e4m3) or 1/8 (e5m2). A block with a NaN or an infinity decodes to NaN everywhere, so that a
// diverged run stays visible; blocks with magnitudes below 2^-110 decode to 0.
//
// Wire: the scales s of all blocks as f32, then a byte per element.
template <class Float, auto encode_loop, auto decode_loop>
struct Floats {
  static constexpr std::size_t kCodesPerByte = 1;
  static constexpr auto encode = encode_loop;
  static constexpr auto decode = decode_loop;
  static scaled_blocks::Steps steps(const float* x, std::size_t n) {
    return scaled_blocks::Steps::of_largest(std::bit_cast<float>(magnitudes::largest(x, n)),
                                            Float::value(Float::kMost));
  }
};

}  // namespace

CodecEntry fp8_e4m3_codec_entry() {
  return scaled_blocks_entry<StepFormat<Floats<fp8::E4M3, fp8::encode_e4m3, fp8::decode_e4m3>>>(
      "fp8_e4m3",
      "8 bits per element: a float with 4 bits of exponent and 3 of mantissa, with a scale for "
      "each "
      "block of elements (arXiv 2209.05433)");
}

CodecEntry fp8_e5m2_codec_entry() {
  return scaled_blocks_entry<StepFormat<Floats<fp8::E5M2, fp8::encode_e5m2, fp8::decode_e5m2>>>(
      "fp8_e5m2",
      "8 bits per element: a float with 5 bits of exponent and 2 of mantissa, with a scale for "
      "each "
      "block of elements (arXiv 2209.05433)");
}

}  // namespace trigram
