#include "core/check.h"
#include "core/codec.h"
#include "core/codecs/options.h"
#include "cuda/codecs/registry.h"
#include "cuda/kernels/codecs/sparse.h"

namespace trigram::cuda {
namespace {

class TopK final : public CudaCodec {
 public:
  TopK(const trigram::topk::Options& options, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host), options_(options) {}

  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept_count(options_.density, n);
    if (k == 0) return;
    TRIGRAM_CHECK(n <= std::numeric_limits<std::uint32_t>::max(), "{} elements", n);
    const topk::ScratchSize size = topk::scratch_size(n);
    const Tensor memory = scratch(size.bytes);
    zero(memory, size.zeroed_bytes);
    topk::encode(stream(), floats(x), n, k, wire.data(), memory.data());
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept_count(options_.density, n);
    if (k > 0) topk::decode(stream(), wire.data(), k, floats(x), n);
  }

 private:
  trigram::topk::Options options_;
};

}  // namespace

std::unique_ptr<Codec> make_topk(const CodecParts& parts) {
  return std::make_unique<TopK>(trigram::topk::option_fields().parse(parts.options, ""), parts);
}

}  // namespace trigram::cuda
