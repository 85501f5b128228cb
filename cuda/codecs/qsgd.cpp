#include "core/codecs/qsgd.h"

#include <vector>

#include "core/check.h"
#include "core/codec.h"
#include "core/random/philox.h"
#include "cuda/codecs/registry.h"
#include "cuda/codecs/tables.h"
#include "cuda/kernels/codecs/qsgd.h"

namespace trigram::cuda {
namespace {

class Qsgd final : public CudaCodec {
 public:
  Qsgd(const trigram::qsgd::Options& options, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host),
        format_(trigram::qsgd::format_of(options)),
        random_(parts.key.seed, parts.key.rank, parts.key.use, Purpose::codec) {}

  void encode(const Tensor& wire, const Tensor& x) override { encode_each({&wire, 1}, {&x, 1}); }
  void decode(const Tensor& x, const Tensor& wire) override { decode_each({&x, 1}, {&wire, 1}); }

  void encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs) override {
    if (xs.empty()) return;
    qsgd::Batch batch = {};
    std::vector<qsgd::Chunk> chunks = fill_batch(batch, wires, xs);
    for (qsgd::Chunk& chunk : chunks) {
      chunk.first_block = next_block_;
      for (std::size_t i = 0; i < chunk.numel; i += format_.bucket) {
        const std::uint32_t blocks =
            trigram::qsgd::random_blocks(std::min(format_.bucket, chunk.numel - i));
        TRIGRAM_CHECK(next_block_ + blocks > next_block_, "more than 2^35 elements with one key");
        next_block_ += blocks;
      }
    }
    const Tensor table = set_table(batch.chunks, chunks, device());
    if (!qsgd::needs_scratch(batch.format)) return qsgd::encode(stream(), batch, {});
    const std::size_t tiles = batch.buckets * qsgd::tiles_of_bucket(batch.format);
    const Tensor totals = scratch(tiles * sizeof(double));
    const Tensor magnitudes = zeroed_scratch(batch.buckets * sizeof(std::uint32_t));
    qsgd::encode(stream(), batch,
                 {reinterpret_cast<double*>(totals.data()),
                  reinterpret_cast<std::uint32_t*>(magnitudes.data())});
  }

  void decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires) override {
    if (xs.empty()) return;
    qsgd::Batch batch = {};
    const Tensor table = set_table(batch.chunks, fill_batch(batch, wires, xs), device());
    qsgd::decode(stream(), batch);
  }

 private:
  /// Sets all members of `batch` except its table of chunks. Returns the chunks for this table.
  std::vector<qsgd::Chunk> fill_batch(qsgd::Batch& batch, std::span<const Tensor> wires,
                                      std::span<const Tensor> xs) const {
    TRIGRAM_CHECK(wires.size() == xs.size(), "{} vectors on {} wires", xs.size(), wires.size());
    std::vector<qsgd::Chunk> chunks;
    std::size_t longest = 1;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      check_wire(*this, wires[i], xs[i]);
      longest = std::max(longest, xs[i].numel());
      chunks.push_back({floats(xs[i]), wires[i].data(), xs[i].numel(), 0, 0});
    }
    batch.count = static_cast<std::uint32_t>(chunks.size());
    // The bucket size is reduced to the longest vector, because kernels have threads for whole
    // buckets.
    batch.format = format_;
    batch.format.bucket = std::min(format_.bucket, longest);
    // Each bucket counts as one tile here.
    batch.buckets = assign_first_tiles(chunks, batch.format.bucket);
    batch.key = random_.key();
    batch.counter = random_.counter(0);
    return chunks;
  }

  trigram::qsgd::Format format_;
  Philox random_;
  std::uint32_t next_block_ = 0;
};

}  // namespace

std::unique_ptr<Codec> make_qsgd(const CodecParts& parts) {
  return std::make_unique<Qsgd>(trigram::qsgd::option_fields().parse(parts.options, ""), parts);
}

}  // namespace trigram::cuda
