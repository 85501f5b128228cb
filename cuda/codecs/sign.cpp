#include "core/codecs/options.h"

#include <vector>

#include "core/check.h"
#include "core/codec.h"
#include "cuda/codecs/registry.h"
#include "cuda/codecs/tables.h"
#include "cuda/kernels/codecs/sign.h"

namespace trigram::cuda {
namespace {

class Sign final : public CudaCodec {
 public:
  Sign(const trigram::sign::Options& options, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host), options_(options) {}

  void encode(const Tensor& wire, const Tensor& x) override { encode_each({&wire, 1}, {&x, 1}); }
  void decode(const Tensor& x, const Tensor& wire) override { decode_each({&x, 1}, {&wire, 1}); }
  void encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs) override {
    encode_chunks(wires, xs, {});
  }
  void encode_each_with_feedback(Device&, std::span<const Tensor> wires, std::span<const Tensor> xs,
                                 std::span<const Tensor> residuals) override {
    TRIGRAM_CHECK(residuals.size() == xs.size(), "{} residuals of {} vectors", residuals.size(),
                  xs.size());
    encode_chunks(wires, xs, residuals);
  }
  void decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires) override {
    if (xs.empty()) return;
    sign::Batch batch = {};
    const Tensor table = set_batch(batch, wires, xs, {});
    sign::decode(stream(), batch);
  }

 private:
  sign::Scale scale() const {
    switch (options_.scale) {
      case trigram::sign::Scale::l1_mean: return sign::Scale::l1_mean;
      case trigram::sign::Scale::one: return sign::Scale::one;
      case trigram::sign::Scale::means: return sign::Scale::means;
      default: return sign::Scale::l2;
    }
  }
  void encode_chunks(std::span<const Tensor> wires, std::span<const Tensor> xs,
                     std::span<const Tensor> residuals) {
    if (xs.empty()) return;
    sign::Batch batch = {};
    const Tensor table = set_batch(batch, wires, xs, residuals);
    const Tensor totals = scratch(batch.tiles * sign::kTileBytes * sign::sums_of(batch.scale));
    sign::encode(stream(), batch, reinterpret_cast<double*>(totals.data()), !residuals.empty());
  }
  /// Returns the device memory to which `batch` refers, as set_table does.
  Tensor set_batch(sign::Batch& batch, std::span<const Tensor> wires, std::span<const Tensor> xs,
                   std::span<const Tensor> residuals) const {
    TRIGRAM_CHECK(wires.size() == xs.size(), "{} vectors on {} wires", xs.size(), wires.size());
    std::vector<sign::Chunk> chunks;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      check_wire(*this, wires[i], xs[i]);
      if (!residuals.empty()) check_wire(*this, wires[i], residuals[i]);
      chunks.push_back({floats(xs[i]), residuals.empty() ? nullptr : floats(residuals[i]),
                        wires[i].data(), xs[i].numel(), 0});
    }
    batch.count = static_cast<std::uint32_t>(chunks.size());
    batch.tiles = assign_first_tiles(chunks, sign::kTile);
    batch.scale = scale();
    return set_table(batch.chunks, chunks, device());
  }

  trigram::sign::Options options_;
};

}  // namespace

std::unique_ptr<Codec> make_sign(const CodecParts& parts) {
  return std::make_unique<Sign>(trigram::sign::option_fields().parse(parts.options, ""), parts);
}

}  // namespace trigram::cuda
