#include "cuda/kernels/codecs/four_bit.h"

#include "core/codec.h"
#include "core/codecs/options.h"
#include "cuda/codecs/registry.h"

namespace trigram::cuda {
namespace {

class FourBit final : public CudaCodec {
 public:
  FourBit(four_bit::Format format, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host),
        format_(format),
        options_(trigram::four_bit::option_fields().parse(parts.options, "")) {}

  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    four_bit::encode(stream(), chunk(wire, x));
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    four_bit::decode(stream(), chunk(wire, x));
  }

 private:
  four_bit::Chunk chunk(const Tensor& wire, const Tensor& x) const {
    return {floats(x), wire.data(), x.numel(), static_cast<std::size_t>(options_.block), format_};
  }
  four_bit::Format format_;
  trigram::four_bit::Options options_;
};

}  // namespace

std::unique_ptr<Codec> make_e3m0(const CodecParts& parts) {
  return std::make_unique<FourBit>(four_bit::Format::e3m0, parts);
}

std::unique_ptr<Codec> make_int4(const CodecParts& parts) {
  return std::make_unique<FourBit>(four_bit::Format::int4, parts);
}

}  // namespace trigram::cuda
