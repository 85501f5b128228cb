#include "cuda/kernels/codecs/chunk_topk.h"

#include "core/codec.h"
#include "core/codecs/options.h"
#include "cuda/codecs/registry.h"

namespace trigram::cuda {
namespace {

class ChunkTopK final : public CudaCodec {
 public:
  ChunkTopK(const trigram::chunk_topk::Options& options, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host), keep_(static_cast<std::size_t>(options.keep)) {}

  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    chunk_topk::encode(stream(), floats(x), x.numel(), keep_, wire.data());
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    chunk_topk::decode(stream(), wire.data(), x.numel(), keep_, floats(x));
  }

 private:
  std::size_t keep_;
};

}  // namespace

std::unique_ptr<Codec> make_chunk_topk(const CodecParts& parts) {
  return std::make_unique<ChunkTopK>(trigram::chunk_topk::option_fields().parse(parts.options, ""),
                                     parts);
}

}  // namespace trigram::cuda
