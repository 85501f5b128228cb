#include "core/check.h"
#include "core/codec.h"
#include "cuda/codecs/registry.h"

namespace trigram::cuda {
namespace {

/// A wire is a tensor of 16-bit numbers, so encoding and decoding are conversions by the device.
class SixteenBit final : public CudaCodec {
 public:
  SixteenBit(DType type, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host), type_(type) {}

  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    device().copy(numbers(wire), x);
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    device().copy(x, numbers(wire));
  }

 private:
  Tensor numbers(const Tensor& wire) const {
    TRIGRAM_CHECK(reinterpret_cast<std::size_t>(wire.data()) % 2 == 0,
                  "16-bit numbers at an odd address");
    const std::shared_ptr<std::byte> alias(std::shared_ptr<std::byte>(), wire.data());
    return {alias, wire.numel() / 2, type_, wire.priced_numel() / 2};
  }
  DType type_;
};

}  // namespace

std::unique_ptr<Codec> make_fp16(const CodecParts& parts) {
  return std::make_unique<SixteenBit>(DType::f16, parts);
}

std::unique_ptr<Codec> make_bf16(const CodecParts& parts) {
  return std::make_unique<SixteenBit>(DType::bf16, parts);
}

}  // namespace trigram::cuda
