#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "core/check.h"
#include "core/codec.h"
#include "core/codecs/kernels.h"
#include "core/codecs/options.h"
#include "core/codecs/random_permutation.h"
#include "core/codecs/registry.h"
#include "core/random/philox.h"

namespace trigram {

FieldTable<randk::Options> randk::option_fields() {
  return FieldTable<Options>{}
      .field("density", &Options::density, density_kind(),
             "Share of the elements that is sent, rounded up to at least one element")
      .field("unbiased", &Options::unbiased, boolean(),
             "Scale the chosen elements by n/k, so that their expectation is exact; false for use "
             "with error feedback");
}

namespace {

using randk::kHeaderBytes;
using randk::Options;

RandomPermutation permutation_of(std::uint64_t seed, std::size_t n) {
  TRIGRAM_CHECK(n <= std::numeric_limits<std::uint32_t>::max(), "{} elements", n);
  return {seed, static_cast<std::uint32_t>(n)};
}

// Sends k = ceil(density n) elements, chosen at random; all others decode to zero (Stich et al.,
// "Sparsified SGD with Memory", arXiv 1809.07599). The option `unbiased` multiplies the chosen
// elements by n/k, so that the mean of x^ is x. The mean of ||x - x^||^2 is then (n/k - 1) ||x||^2,
// so the codec is a contraction only if more than half of the elements are sent. Error feedback
// needs the unscaled elements.
//
// Indices are not sent: receivers compute them from a seed. The sender draws a new seed for every
// vector from the codec's key, and sends it. Codecs with the same key choose the same elements.
//
// A chunk (the input of one call) with a NaN or an infinity decodes to NaN everywhere, so that a
// diverged run stays visible.
//
// Wire: the seed as u64, then k values as f32 in the order of choice: 8 + 4k bytes.
class RandK final : public Codec {
 public:
  RandK(const Options& options, const CodecKey& key)
      : options_(options), seeds_(key.seed, key.rank, key.use, Purpose::codec) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return kHeaderBytes + kept_count(options_.density, numel) * sizeof(float);
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept_count(options_.density, n);
    const std::uint64_t low = seeds_.bits(), seed = std::uint64_t{seeds_.bits()} << 32 | low;
    std::memcpy(wire.data(), &seed, kHeaderBytes);
    const float* from = x.floats().data();
    const float scale = options_.unbiased && k > 0 ? randk::scale(n, k) : 1;
    const bool finite = magnitudes::largest(from, n) < magnitudes::kInfinity;
    std::byte* to = wire.data() + kHeaderBytes;
    const RandomPermutation permutation = permutation_of(seed, n);
    for (std::uint32_t i = 0; i < k; ++i, to += sizeof(float)) {
      const float value =
          finite ? scale * from[permutation[i]] : std::numeric_limits<float>::quiet_NaN();
      std::memcpy(to, &value, sizeof(value));
    }
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept_count(options_.density, n);
    if (n == 0) return;
    std::uint64_t seed = 0;
    std::memcpy(&seed, wire.data(), kHeaderBytes);
    std::vector<float> values(k);
    std::memcpy(values.data(), wire.data() + kHeaderBytes, k * sizeof(float));
    float* to = x.floats().data();
    std::fill_n(to, n, std::isnan(values[0]) ? values[0] : 0.0f);
    const RandomPermutation permutation = permutation_of(seed, n);
    for (std::uint32_t i = 0; i < k; ++i) to[permutation[i]] = values[i];
  }

 private:
  Options options_;
  Philox seeds_;
};

}  // namespace

CodecEntry randk_codec_entry() {
  return codec_entry(
      "randk",
      "Elements chosen at random, 4 bytes each: their indices follow from a seed (arXiv "
      "1809.07599)",
      randk::option_fields(),
      [](const Options& options, const CodecKey& key) {
        return std::make_unique<RandK>(options, key);
      },
      [](const Options& options) { return !options.unbiased || options.density > 0.5; });
}

}  // namespace trigram
