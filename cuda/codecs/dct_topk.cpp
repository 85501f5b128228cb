#include "cuda/kernels/codecs/dct_topk.h"

#include "core/codec.h"
#include "core/codecs/options.h"
#include "cuda/codecs/registry.h"

namespace trigram::cuda {
namespace {

using trigram::dct_topk::Mean;

class DctTopK final : public CudaCodec {
 public:
  DctTopK(const trigram::dct_topk::Options& options, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host),
        keep_(static_cast<std::size_t>(options.keep)),
        mean_(options.mean) {}

  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    dct_topk::encode(stream(), floats(x), x.numel(), keep_, wire.data());
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    dct_topk::decode(stream(), wire.data(), x.numel(), keep_, floats(x));
  }
  void decode_mean(Device& on, const Tensor& x, std::span<const Tensor> wires) override {
    if (mean_ == Mean::all) return Codec::decode_mean(on, x, wires);
    if (x.numel() == 0) return;
    const std::size_t count = dct_topk::coefficients(x.numel());
    const Tensor memory = zeroed_scratch(2 * count * sizeof(float));
    float* const sums = floats(memory);
    for (const Tensor& wire : wires) {
      check_wire(*this, wire, x);
      dct_topk::add_coefficients(stream(), wire.data(), x.numel(), keep_, sums, sums + count);
    }
    dct_topk::decode_mean(stream(), sums, sums + count, x.numel(), floats(x));
  }

 private:
  std::size_t keep_;
  Mean mean_;
};

}  // namespace

std::unique_ptr<Codec> make_dct_topk(const CodecParts& parts) {
  return std::make_unique<DctTopK>(trigram::dct_topk::option_fields().parse(parts.options, ""),
                                   parts);
}

}  // namespace trigram::cuda
