#include <memory>

#include "core/codec.h"
#include "core/codecs/kernels.h"
#include "core/codecs/registry.h"

namespace trigram {
namespace {

// One 16-bit number per element, rounded to nearest, ties to even (core/element_types.h).
// Values are not scaled, so values out of range become infinite; NaN stays NaN. Wire: 2 bytes per
// element.
class SixteenBit final : public Codec {
 public:
  using Narrow = void (*)(const float*, std::size_t, std::uint16_t*);
  using Widen = void (*)(const std::uint16_t*, std::size_t, float*);

  SixteenBit(Narrow narrow, Widen widen) : narrow_(narrow), widen_(widen) {}

  std::size_t wire_bytes(std::size_t numel) const override { return 2 * numel; }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    narrow_(x.floats().data(), x.numel(), reinterpret_cast<std::uint16_t*>(wire.data()));
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    widen_(reinterpret_cast<const std::uint16_t*>(wire.data()), x.numel(), x.floats().data());
  }

 private:
  Narrow narrow_;
  Widen widen_;
};

CodecEntry sixteen_bit_entry(std::string name, std::string doc, SixteenBit::Narrow narrow,
                             SixteenBit::Widen widen) {
  struct Options {};
  return codec_entry(
      std::move(name), std::move(doc), FieldTable<Options>{},
      [=](const Options&, const CodecKey&) { return std::make_unique<SixteenBit>(narrow, widen); });
}

}  // namespace

CodecEntry fp16_codec_entry() {
  return sixteen_bit_entry("fp16",
                           "16 bits per element: IEEE 754 binary16, rounded to nearest even, not "
                           "scaled (beyond 65,504 infinite)",
                           sixteen_bit::f16_from_f32, sixteen_bit::f32_from_f16);
}

CodecEntry bf16_codec_entry() {
  return sixteen_bit_entry("bf16",
                           "16 bits per element: bfloat16, the upper half of an f32, rounded to "
                           "nearest even",
                           sixteen_bit::bf16_from_f32, sixteen_bit::f32_from_bf16);
}

}  // namespace trigram
