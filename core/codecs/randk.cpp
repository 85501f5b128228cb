#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "core/check.h"
#include "core/codecs/density.h"
#include "core/codecs/entries.h"
#include "core/codecs/host_wire.h"
#include "core/codecs/magnitude_kernels.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

struct Options {
  double density = 0.01;
  bool unbiased = true;
};

// Calls each(index) for a uniformly random subset of k of n indices, ascending. Floyd's algorithm
// (Bentley and Floyd, "A Sample of Brilliance", CACM 30(9), 1987): k draws, whatever n is.
template <class Each>
void each_of_random_subset(std::uint64_t seed, std::size_t n, std::size_t k, const Each& each) {
  TRIGRAM_CHECK(n <= std::numeric_limits<std::uint32_t>::max(), "{} elements", n);
  Philox random(seed, 0, 0, Purpose::codec);
  std::vector<std::uint64_t> chosen((n + 63) / 64);
  const auto bit = [](std::size_t i) { return std::uint64_t{1} << i % 64; };
  for (std::size_t last = n - k; last < n; ++last) {
    const std::size_t drawn = random.below(static_cast<std::uint32_t>(last + 1));
    const std::size_t added = chosen[drawn / 64] & bit(drawn) ? last : drawn;
    chosen[added / 64] |= bit(added);
  }
  for (std::size_t word = 0; word < chosen.size(); ++word) {
    for (std::uint64_t rest = chosen[word]; rest != 0; rest &= rest - 1) {
      each(64 * word + static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }
}

// k = ceil(density n) elements, chosen at random, the rest zero (Stich et al., "Sparsified SGD with
// Memory", arXiv 1809.07599). `unbiased` multiplies them by n/k, so that the mean of x^ is x, but
// ||x - x^||^2 = (n/k - 1) ||x||^2 on average, no contraction unless more than half of them travel:
// error feedback wants them as they are.
//
// Indices do not travel: they follow from a seed, drawn anew for every vector from the codec's key,
// that does. Codecs of one key choose the same elements.
//
// A chunk, which is all that one call encodes, with a NaN or an infinity decodes to NaN everywhere,
// so that a diverged run stays visible.
//
// Wire: the seed as u64, then k values as f32 in the order of their indices. 8 + 4k bytes.
class RandK final : public Codec {
 public:
  static constexpr std::size_t kHeaderBytes = sizeof(std::uint64_t);

  RandK(const Options& options, const CodecKey& key)
      : options_(options), seeds_(key.seed, key.rank, key.use, Purpose::codec) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return kHeaderBytes + kept(options_.density, numel) * sizeof(float);
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_host_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept(options_.density, n);
    const std::uint64_t low = seeds_.bits(), seed = std::uint64_t{seeds_.bits()} << 32 | low;
    std::memcpy(wire.data(), &seed, kHeaderBytes);
    const float* from = x.floats().data();
    float scale = options_.unbiased && k > 0
                      ? static_cast<float>(static_cast<double>(n) / static_cast<double>(k))
                      : 1;
    if (magnitudes::largest(from, n) >= magnitudes::kInfinity) {
      scale = std::numeric_limits<float>::quiet_NaN();
    }
    std::byte* to = wire.data() + kHeaderBytes;
    each_of_random_subset(seed, n, k, [&](std::size_t i) {
      const float value = scale * from[i];
      std::memcpy(to, &value, sizeof(value));
      to += sizeof(value);
    });
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_host_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept(options_.density, n);
    if (n == 0) return;
    std::uint64_t seed = 0;
    std::memcpy(&seed, wire.data(), kHeaderBytes);
    std::vector<float> values(k);
    std::memcpy(values.data(), wire.data() + kHeaderBytes, k * sizeof(float));
    float* to = x.floats().data();
    std::fill_n(to, n, std::isnan(values[0]) ? values[0] : 0.0f);
    auto next = values.begin();
    each_of_random_subset(seed, n, k, [&](std::size_t i) { to[i] = *next++; });
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
      FieldTable<Options>{}
          .field("density", &Options::density, density_kind(),
                 "Part of the elements that travels, rounded up, at least one")
          .field("unbiased", &Options::unbiased, boolean(),
                 "Scale them by n/k, so that the mean is right; false for use with error feedback"),
      [](const Options& options, const CodecKey& key) {
        return std::make_unique<RandK>(options, key);
      },
      [](const Options& options) { return !options.unbiased || options.density > 0.5; });
}

}  // namespace trigram
