#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>

#include "core/codec.h"
#include "core/codecs/chunk_selection.h"
#include "core/codecs/chunk_topk_math.h"
#include "core/codecs/kernels.h"
#include "core/codecs/options.h"
#include "core/codecs/registry.h"
#include "core/config/option_type.h"

namespace trigram {

FieldTable<chunk_topk::Options> chunk_topk::option_fields() {
  return FieldTable<Options>{}.field(
      "keep", &Options::keep, integer(1, static_cast<std::int64_t>(kChunk)),
      "Elements that are kept of each chunk of 4096; of the last chunk proportionally many");
}

namespace {

using chunk_topk::kChunk;
using chunk_topk::kGroup;
using chunk_topk::kGroupBytes;
using chunk_topk::Levels;
using chunk_topk::Options;

// The `keep` largest magnitudes of each chunk of 4096 elements, of equal ones the first, with 12
// bits for the index and 2 for the value: its sign and one of two magnitudes (SparseLoCo, arXiv
// 2508.15706, which keeps 64). All other elements decode to 0. The two magnitudes are the middles
// of the halves of the range of the kept magnitudes, the lower one at most twice the smallest of
// them; the paper's values are not described, and theirs come without a header. Chunks are runs of
// the vector, also of matrices.
//
// The code is a contraction, since a kept element loses at most itself. A chunk
// with a NaN or an infinity decodes to NaN everywhere, so that a diverged run stays visible.
//
// Wire, by chunk: the lower and the higher magnitude as f32, then the codes in the order of their
// indices, four in 7 bytes, the first in the lowest bits. 120 bytes for 4096 elements with keep 64,
// .234 bits per element.
class ChunkTopK final : public Codec {
 public:
  explicit ChunkTopK(const Options& options) : keep_(static_cast<std::size_t>(options.keep)) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return chunk_topk::wire_bytes(numel, keep_);
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    std::byte* to = wire.data();
    for (std::size_t begin = 0; begin < x.numel(); begin += kChunk) {
      const std::size_t n = std::min(kChunk, x.numel() - begin);
      encode_chunk(x.floats().data() + begin, n, to);
      to += chunk_topk::chunk_bytes(n, keep_);
    }
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    const std::byte* from = wire.data();
    for (std::size_t begin = 0; begin < x.numel(); begin += kChunk) {
      const std::size_t n = std::min(kChunk, x.numel() - begin);
      decode_chunk(from, n, x.floats().data() + begin);
      from += chunk_topk::chunk_bytes(n, keep_);
    }
  }

 private:
  void encode_chunk(const float* x, std::size_t n, std::byte* to) const {
    const std::size_t kept = chunk_topk::kept_of(n, keep_);
    const KeptElements chosen = KeptElements::largest_of(x, n, kept);
    const Levels levels = Levels::of(chosen.least, std::bit_cast<float>(magnitudes::largest(x, n)));
    std::memcpy(to, &levels.low, sizeof(float));
    std::memcpy(to + sizeof(float), &levels.high, sizeof(float));
    for (std::size_t i = 0; i < kept; i += kGroup) {
      std::uint64_t group = 0;
      for (std::size_t j = i; j < std::min(i + kGroup, kept); ++j)
        group |= std::uint64_t{chunk_topk::code_of(chosen.indices[j], x[chosen.indices[j]], levels)}
                 << 14 * (j - i);
      std::memcpy(to + chunk_topk::kHeaderBytes + i / kGroup * kGroupBytes, &group, kGroupBytes);
    }
  }
  void decode_chunk(const std::byte* from, std::size_t n, float* x) const {
    const std::size_t kept = chunk_topk::kept_of(n, keep_);
    float low = 0, high = 0;
    std::memcpy(&low, from, sizeof(float));
    std::memcpy(&high, from + sizeof(float), sizeof(float));
    std::fill_n(x, n, low - low);  // 0, or NaN in a chunk that diverged
    for (std::size_t i = 0; i < kept; ++i) {
      std::uint64_t group = 0;
      std::memcpy(&group, from + chunk_topk::kHeaderBytes + i / kGroup * kGroupBytes, kGroupBytes);
      const auto code = static_cast<std::uint32_t>(group >> 14 * (i % kGroup)) & 0x3FFF;
      if ((code & 0xFFF) < n) x[code & 0xFFF] = chunk_topk::value_of(code, low, high);
    }
  }

  std::size_t keep_;
};

}  // namespace

CodecEntry chunk_topk_codec_entry() {
  return codec_entry("chunk_topk",
                     "14 bits for each of the largest elements of each 4096: an index of 12 bits, "
                     "a sign and one of "
                     "two magnitudes; for use with error feedback (SparseLoCo, arXiv 2508.15706)",
                     chunk_topk::option_fields(), [](const Options& options, const CodecKey&) {
                       return std::make_unique<ChunkTopK>(options);
                     });
}

}  // namespace trigram
