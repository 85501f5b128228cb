#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "core/codec.h"
#include "core/codecs/kernels.h"
#include "core/codecs/options.h"
#include "core/codecs/registry.h"
#include "core/config/option_type.h"

namespace trigram {
namespace {

using four_bit::Exponents;
using four_bit::Options;
using four_bit::Steps;

/// An even number: two codes share a byte, and no byte belongs to two blocks.
OptionType<std::int64_t> block_kind() {
  OptionType<std::int64_t> kind = integer(2, 1 << 20);
  kind.parse = [parse = kind.parse](const Json& j, const std::string& pointer) {
    const std::int64_t block = parse(j, pointer);
    if (block % 2 != 0) wrong_type(pointer, "an even number", j);
    return block;
  };
  return kind;
}

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
// magnitudes below 2^-119 (e3m0) or 2^-120 (int4) decode to 0.
//
// Wire: the scales of all blocks, 1 byte (e3m0) or an f32 (int4) each, then the codes, the first of
// two in the low half of a byte.
template <class Scale>
class FourBit final : public Codec {
 public:
  explicit FourBit(const Options& options) : block_(static_cast<std::size_t>(options.block)) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return scales_bytes(numel) + four_bit::code_bytes(numel);
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    for_each_block(wire, x,
                   [](float* values, std::size_t n, std::byte* scale, std::uint8_t* codes) {
                     encode_block(values, n, scale, codes);
                   });
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    for_each_block(wire, x,
                   [](float* values, std::size_t n, std::byte* scale, std::uint8_t* codes) {
                     decode_block(values, n, scale, codes);
                   });
  }

 private:
  static constexpr bool kIsFloat = std::is_same_v<Scale, std::uint8_t>;

  std::size_t scales_bytes(std::size_t numel) const {
    return four_bit::blocks_of(numel, block_) * sizeof(Scale);
  }
  template <class Each>
  void for_each_block(const Tensor& wire, const Tensor& x, const Each& each) const {
    auto* const codes = reinterpret_cast<std::uint8_t*>(wire.data()) + scales_bytes(x.numel());
    for (std::size_t begin = 0, i = 0; begin < x.numel(); begin += block_, ++i)
      each(x.floats().data() + begin, std::min(block_, x.numel() - begin),
           wire.data() + i * sizeof(Scale), codes + begin / 2);
  }
  static void encode_block(const float* x, std::size_t n, std::byte* scale, std::uint8_t* codes) {
    const std::uint32_t largest = magnitudes::largest(x, n);
    if constexpr (kIsFloat) {
      const Exponents exponents = Exponents::of_largest(largest);
      *scale = static_cast<std::byte>(exponents.top);
      four_bit::encode(x, n, exponents, codes);
    } else {
      const Steps steps = Steps::of_largest(std::bit_cast<float>(largest));
      std::memcpy(scale, &steps.step, sizeof(float));
      four_bit::encode(x, n, steps, codes);
    }
  }
  static void decode_block(float* x, std::size_t n, const std::byte* scale,
                           const std::uint8_t* codes) {
    if constexpr (kIsFloat) {
      four_bit::decode(codes, n, Exponents{std::to_integer<std::uint32_t>(*scale)}, x);
    } else {
      Steps steps;
      std::memcpy(&steps.step, scale, sizeof(float));
      four_bit::decode(codes, n, steps, x);
    }
  }

  std::size_t block_;
};

template <class Scale>
CodecEntry four_bit_entry(std::string name, std::string doc) {
  return codec_entry(std::move(name), std::move(doc), four_bit::option_fields(),
                     [](const Options& options, const CodecKey&) {
                       return std::make_unique<FourBit<Scale>>(options);
                     });
}

}  // namespace

FieldTable<four_bit::Options> four_bit::option_fields() {
  return FieldTable<Options>{}.field("block", &Options::block, block_kind(),
                                     "Elements that share a scale; an even number");
}

CodecEntry e3m0_codec_entry() {
  return four_bit_entry<std::uint8_t>("e3m0",
                                      "4 bits per element: a sign and an exponent of 3 bits, with "
                                      "the largest exponent of each block "
                                      "of elements in a byte (Streaming DiLoCo, arXiv 2501.18512)");
}

CodecEntry int4_codec_entry() {
  return four_bit_entry<float>("int4",
                               "4 bits per element: an integer from -7 to 7, with a scale for each "
                               "block of elements (ZeRO++, arXiv 2306.10209)");
}

}  // namespace trigram
