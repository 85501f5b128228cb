#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "core/codecs/entries.h"
#include "core/codecs/sign.h"
#include "core/codecs/sign_kernels.h"
#include "core/codecs/wire.h"

namespace trigram {

FieldTable<sign::Options> sign::option_fields() {
  return FieldTable<Options>{}.field(
      "scale", &Options::scale, one_of<Scale>({{"l2", Scale::l2}, {"l1_mean", Scale::l1_mean}}),
      "Magnitude of what is decoded: l2 is ||x||_2 / sqrt(n), l1_mean is ||x||_1 / n");
}

namespace {

using sign::kHeaderBytes;
using sign::Options;
using sign::Scale;

// The signs of a chunk, which is all that one call encodes, and one scale for all of them:
//
//   x^ = scale * sign(x)          sign(0) = sign(-0) = +1
//   l2:       scale = ||x||_2 / sqrt(n)     (1-bit Adam, arXiv 2102.02888)
//   l1_mean:  scale = ||x||_1 / n           (EF-signSGD, arXiv 1901.09847)
//
// Biased: meant for error feedback. l1_mean is a contraction; l2 is one for vectors as dense as
// gradients are, while ||x||_1 > sqrt(n)/2 ||x||_2. The sums are taken in f64, in one fixed order.
// A chunk with a NaN or an infinity decodes to NaN everywhere, so that a diverged run stays
// visible.
//
// Wire: the scale as f32, then one bit per element, set where x < 0, lowest bit first; the last
// byte filled up with zero bits. 4 + ceil(n / 8) bytes.
class Sign final : public Codec {
 public:
  explicit Sign(const Options& options) : options_(options) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return kHeaderBytes + (numel + 7) / 8;
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    const float scale = pack(x.floats().data(), x.numel(),
                             reinterpret_cast<std::uint8_t*>(wire.data()) + kHeaderBytes);
    std::memcpy(wire.data(), &scale, kHeaderBytes);
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    float scale = 0;
    std::memcpy(&scale, wire.data(), kHeaderBytes);
    sign::unpack(reinterpret_cast<const std::uint8_t*>(wire.data()) + kHeaderBytes, x.numel(),
                 scale, x.floats().data());
  }

 private:
  // Packs the signs and returns the scale.
  float pack(const float* x, std::size_t n, std::uint8_t* bits) const {
    if (n == 0) return 0;
    const auto count = static_cast<double>(n);
    const double scale = options_.scale == Scale::l2
                             ? std::sqrt(sign::pack_and_sum_squares(x, n, bits) / count)
                             : sign::pack_and_sum_magnitudes(x, n, bits) / count;
    if (!std::isfinite(scale)) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(scale);
  }

  Options options_;
};

}  // namespace

CodecEntry sign_codec_entry() {
  return codec_entry(
      "sign",
      "1 bit per element: its sign, and one scale per chunk; biased, for use with error feedback "
      "(1-bit Adam, arXiv 2102.02888)",
      sign::option_fields(),
      [](const Options& options, const CodecKey&) { return std::make_unique<Sign>(options); });
}

}  // namespace trigram
