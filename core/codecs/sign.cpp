#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "core/codec.h"
#include "core/codecs/kernels.h"
#include "core/codecs/options.h"
#include "core/codecs/registry.h"

namespace trigram {

FieldTable<sign::Options> sign::option_fields() {
  return FieldTable<Options>{}.field(
      "scale", &Options::scale,
      one_of<Scale>({{"l2", Scale::l2},
                     {"l1_mean", Scale::l1_mean},
                     {"one", Scale::one},
                     {"means", Scale::means}}),
      "Magnitude of decoded elements: l2 is ||x||_2 / sqrt(n), l1_mean is ||x||_1 / n, one is 1, "
      "means are the means of the non-negative and of the negative elements");
}

namespace {

using sign::Levels;
using sign::Options;
using sign::Scale;

// The signs of a chunk (the input of one call) and one scale for all of them:
//
//   x^ = scale * sign(x)          sign(0) = sign(-0) = +1
//   l2:       scale = ||x||_2 / sqrt(n)     (1-bit Adam, arXiv 2102.02888)
//   l1_mean:  scale = ||x||_1 / n           (EF-signSGD, arXiv 1901.09847)
//   one:      scale = 1, or 0 if x = 0      (signSGD, arXiv 1802.04434)
//   means:    x^ = the mean of all x >= 0, or of all x < 0  (1-bit SGD, Interspeech 2014)
//
// The code is biased and meant for error feedback, except `one`, whose error can exceed its input.
// l1_mean and means are contractions; l2 is a contraction if ||x||_1 > sqrt(n)/2 ||x||_2, which
// holds for vectors as dense as gradients. Sums are in f64, in a fixed order. A
// chunk with a NaN or an infinity decodes to NaN everywhere, so that a diverged run stays visible.
//
// Wire: the scale as f32 (for `means` the mean of x >= 0 and the mean of x < 0), then one bit per
// element, set if x < 0, lowest bit first; the last byte is padded with zero bits. 4 + ceil(n / 8)
// bytes; for means 8 + ceil(n / 8).
class Sign final : public Codec {
 public:
  explicit Sign(const Options& options) : options_(options) {}

  std::size_t wire_bytes(std::size_t numel) const override { return header() + (numel + 7) / 8; }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    const Levels levels =
        pack(x.floats().data(), x.numel(), reinterpret_cast<std::uint8_t*>(wire.data()) + header());
    std::memcpy(wire.data(), &levels, header());
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    Levels levels{};
    std::memcpy(&levels, wire.data(), header());
    if (options_.scale != Scale::means) levels.minus = -levels.plus;
    sign::unpack(reinterpret_cast<const std::uint8_t*>(wire.data()) + header(), x.numel(), levels,
                 x.floats().data());
  }

 private:
  std::size_t header() const { return sign::header_bytes(options_.scale); }

  // Packs the signs and returns the values that they decode to.
  Levels pack(const float* x, std::size_t n, std::uint8_t* bits) const {
    if (n == 0) return {0, 0};
    if (options_.scale == Scale::means) return pack_with_means(x, n, bits);
    const auto count = static_cast<double>(n);
    const double scale = options_.scale == Scale::l2
                             ? std::sqrt(sign::pack_and_sum_squares(x, n, bits) / count)
                             : sign::pack_and_sum_magnitudes(x, n, bits) / count;
    if (!std::isfinite(scale)) return {kNaN, kNaN};
    const bool one = options_.scale == Scale::one && scale > 0;
    const float rounded = one ? 1 : static_cast<float>(scale);
    return {rounded, -rounded};
  }
  static Levels pack_with_means(const float* x, std::size_t n, std::uint8_t* bits) {
    const sign::SumsBySign sums = sign::pack_and_sum_by_sign(x, n, bits);
    std::size_t below = 0;
    for (std::size_t i = 0; i < (n + 7) / 8; ++i)
      below += static_cast<std::size_t>(std::popcount(bits[i]));
    const auto mean = [](double sum, std::size_t count) {
      return sum / static_cast<double>(std::max<std::size_t>(count, 1));
    };
    const double plus = mean(sums.positives, n - below), minus = mean(sums.negatives, below);
    if (!std::isfinite(plus + minus)) return {kNaN, kNaN};
    return {static_cast<float>(plus), static_cast<float>(minus)};
  }
  static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

  Options options_;
};

}  // namespace

CodecEntry sign_codec_entry() {
  return codec_entry(
      "sign",
      "1 bit per element: its sign, and one scale per chunk; biased, for use with error feedback "
      "(1-bit Adam, arXiv 2102.02888)",
      sign::option_fields(),
      [](const Options& options, const CodecKey&) { return std::make_unique<Sign>(options); },
      [](const Options& options) { return options.scale != Scale::one; });
}

}  // namespace trigram
