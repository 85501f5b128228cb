#include "cuda/kernels/codecs/scaled_blocks.h"

#include "core/codec.h"
#include "core/codecs/options.h"
#include "cuda/codecs/registry.h"
#include "cuda/kernels/codecs/hadamard.h"

namespace trigram::cuda {
namespace {

using scaled_blocks::Format;

class ScaledBlocks final : public CudaCodec {
 public:
  ScaledBlocks(Format format, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host),
        format_(format),
        options_(trigram::scaled_blocks::option_fields(scaled_blocks::codes_per_byte(format))
                     .parse(parts.options, "")) {}

  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    if (options_.hadamard == 1) {
      scaled_blocks::encode(stream(), format_, chunk(wire, x));
      return;
    }
    const Tensor copy = scratch(x.nbytes());
    hadamard::transform(stream(), floats(copy), floats(x), x.numel(), group());
    scaled_blocks::encode(stream(), format_, chunk(wire, x, floats(copy)));
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    scaled_blocks::decode(stream(), format_, chunk(wire, x));
    if (options_.hadamard > 1)
      hadamard::transform(stream(), floats(x), floats(x), x.numel(), group());
  }

 private:
  scaled_blocks::Chunk chunk(const Tensor& wire, const Tensor& x) const {
    return chunk(wire, x, floats(x));
  }
  scaled_blocks::Chunk chunk(const Tensor& wire, const Tensor& x, float* values) const {
    return {values, wire.data(), x.numel(), static_cast<std::size_t>(options_.block)};
  }
  std::size_t group() const { return static_cast<std::size_t>(options_.hadamard); }
  Format format_;
  trigram::scaled_blocks::Options options_;
};

}  // namespace

std::unique_ptr<Codec> make_e3m0(const CodecParts& parts) {
  return std::make_unique<ScaledBlocks>(Format::e3m0, parts);
}

std::unique_ptr<Codec> make_int4(const CodecParts& parts) {
  return std::make_unique<ScaledBlocks>(Format::int4, parts);
}

std::unique_ptr<Codec> make_int2(const CodecParts& parts) {
  return std::make_unique<ScaledBlocks>(Format::int2, parts);
}

std::unique_ptr<Codec> make_fp8_e4m3(const CodecParts& parts) {
  return std::make_unique<ScaledBlocks>(Format::fp8_e4m3, parts);
}

std::unique_ptr<Codec> make_fp8_e5m2(const CodecParts& parts) {
  return std::make_unique<ScaledBlocks>(Format::fp8_e5m2, parts);
}

}  // namespace trigram::cuda
