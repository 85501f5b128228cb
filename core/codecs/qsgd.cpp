#include "core/codecs/qsgd.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>

#include "core/check.h"
#include "core/codec.h"
#include "core/codecs/registry.h"
#include "core/random/philox.h"

namespace trigram::elias {
namespace {

// Let a_i = s |x_i| / |x|, so that sum a_i^2 = s^2. The level l_i is one of the two integers around
// a_i, chosen at random with mean a_i. The bounds below follow, with log to base 2:
//
//   sum P(l_i > 0) <= sum min(1, a_i) <= min(n, s sqrt n) = N
//
//   sum E log(1 + l_i) <= sum log(1 + a_i) <= n log(1 + s / sqrt n), as log(1 + sqrt t) is concave
//
//   sum of E log l_i over l_i > 0 <= sum of log a_i over a_i > 1 <= M/2 log(s^2 / M), where M <= n
//   is the number of elements with a_i > 1; this is largest for M = s^2 / e
//
// If K distances add up to at most n, their logarithms add up to at most K log(n / K). K distances
// with their signs and levels thus take 3 K + 2 K log(n / K) bits. This function of K is concave
// and grows up to K = n, so its mean is at most its value at N.

double max_nonzeros(double s, double n) { return std::min(n, s * std::sqrt(n)); }

double dense_bits(double s, double n) {
  return n + 2 * n * std::log2(1 + s / std::sqrt(n)) + max_nonzeros(s, n);
}

double sparse_bits(double s, double n) {
  const double count = max_nonzeros(s, n), above_one = std::min(n, s * s / std::numbers::e);
  const double distances = count * (1 + 2 * std::log2(n / count));
  const double signs = count, levels = count + above_one * std::log2(s * s / above_one);
  return 1 + 2 * std::log2(1 + count) + distances + signs + levels;
}

}  // namespace

double mean_bits(int levels, std::size_t numel) {
  if (numel == 0) return 0;
  const auto s = static_cast<double>(levels), n = static_cast<double>(numel);
  return std::min(dense_bits(s, n), sparse_bits(s, n));
}

}  // namespace trigram::elias

namespace trigram {

FieldTable<qsgd::Options> qsgd::option_fields() {
  return FieldTable<Options>{}
      .field("levels", &Options::levels, integer(1, 127),
             "s: number of levels of each sign besides zero, which take ceil(log2(2s + 1)) bits "
             "per element (127: 8 bits, 7: 4 bits, 1: 2 bits)")
      .field("bucket", &Options::bucket, integer(1, 1 << 24),
             "Number of elements that share a norm")
      .field("norm", &Options::norm, one_of<Norm>({{"l2", Norm::l2}, {"max", Norm::max}}),
             "Norm that is divided into levels: the Euclidean norm, or the largest magnitude, "
             "whose error is smaller")
      .field("coding", &Options::coding,
             one_of<Coding>({{"fixed", Coding::fixed}, {"elias", Coding::elias}}),
             "Length that codes count as on the wire: their own fixed length, or the bound on the "
             "mean length of Elias codes")
      .only_where([](const Options& o) { return o.norm == Norm::l2 || o.coding == Coding::fixed; },
                  "the bound on Elias codes holds only for the Euclidean norm; expected \"norm\": "
                  "\"l2\" or \"coding\": \"fixed\"");
}

qsgd::Format qsgd::format_of(const Options& options) {
  Format format;
  format.levels = static_cast<int>(options.levels);
  format.bits = std::bit_width(2 * static_cast<unsigned>(options.levels));  // codes are in 0 .. 2s
  format.bucket = static_cast<std::size_t>(options.bucket);
  format.max_norm = options.norm == Norm::max;
  return format;
}

namespace {

using qsgd::Coding;
using qsgd::Norm;
using qsgd::Options;

// QSGD, stochastic quantisation (arXiv 1610.02132), with codes of fixed length. Every bucket of
// consecutive elements has its own norm; s is the number of levels:
//
//   x^ = norm / s * level     level = floor(s x / norm) or the next integer, chosen at random so
//                             that the mean of x^ is x
//
// Rounding is in fixed point with steps of 2^-15 and uses 15 random bits per element. The mean of
// x^ is exact for s x / norm rounded to a multiple of 2^-15, so the bias is at most norm / s *
// 2^-16, plus rounding in f32. The random bits of an element depend on the codec's key and on the
// number of elements before it.
//
// For an element between levels l and l + 1, at fraction p of the way, the mean squared error is
// (norm/s)^2 p(1 - p). The sum over the n elements of a bucket depends on the norm. For l2 it is at
// most n/(4 s^2) ||x||^2; the worst case has all elements at p = 1/2. For max it is less than
// ||x||^2 if n < 8 s^2; the worst case has one element at the norm and all others at p = 1/4. So
// the codec is a contraction only if there are enough levels for the bucket size.
//
// A bucket with a NaN, an infinity, or a norm beyond f32 decodes to NaN everywhere, so that a
// diverged run stays visible; a bucket whose norm is below 2^-100 decodes to zeros.
//
// With the coding `elias`, a bucket is priced as 4 bytes for the norm plus elias::mean_bits, in
// whole bytes. A real run uses the wire format of `fixed` all the same, because receivers must know
// the length.
//
// Wire, bucket by bucket: the norm as f32, then level + s in ceil(log2(2s + 1)) bits per element,
// lowest bit first, padded to whole bytes.
class Qsgd final : public Codec {
 public:
  Qsgd(const Options& options, const CodecKey& key)
      : format_(qsgd::format_of(options)),
        elias_(options.norm == Norm::l2 && options.coding == Coding::elias),
        random_(key.seed, key.rank, key.use, Purpose::codec) {}

  std::size_t wire_bytes(std::size_t numel) const override { return format_.wire_bytes(numel); }
  std::size_t priced_bytes(std::size_t numel) const override {
    if (!elias_) return wire_bytes(numel);
    const std::size_t rest = numel % format_.bucket;
    return numel / format_.bucket * elias_bytes(format_.bucket) +
           (rest > 0 ? elias_bytes(rest) : 0);
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    each_bucket(x, wire, [this](float* values, std::size_t n, std::byte* to) {
      const float norm = qsgd::wire_norm(qsgd::norm(format_, values, n));
      std::memcpy(to, &norm, sizeof(norm));
      const std::uint32_t blocks = qsgd::random_blocks(n);
      TRIGRAM_CHECK(next_block_ + blocks > next_block_, "more than 2^35 elements with one key");
      qsgd::encode(format_, values, n, norm, random_, next_block_, codes_at(to));
      next_block_ += blocks;
    });
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    each_bucket(x, wire, [this](float* values, std::size_t n, std::byte* from) {
      float norm = 0;
      std::memcpy(&norm, from, sizeof(norm));
      qsgd::decode(format_, codes_at(from), n, norm, values);
    });
  }

 private:
  static std::uint8_t* codes_at(std::byte* bucket) {
    return reinterpret_cast<std::uint8_t*>(bucket) + sizeof(float);
  }
  template <class Each>
  void each_bucket(const Tensor& x, const Tensor& wire, const Each& each) const {
    float* values = x.floats().data();
    std::byte* at = wire.data();
    for (std::size_t i = 0; i < x.numel(); i += format_.bucket) {
      const std::size_t n = std::min(format_.bucket, x.numel() - i);
      each(values + i, n, at);
      at += format_.bucket_bytes(n);
    }
  }

  std::size_t elias_bytes(std::size_t bucket) const {
    const double bits = elias::mean_bits(format_.levels, bucket);
    return sizeof(float) + static_cast<std::size_t>(std::ceil(bits / 8));
  }

  qsgd::Format format_;
  bool elias_;
  Philox random_;
  std::uint32_t next_block_ = 0;
};

bool enough_levels(const Options& options) {
  const double squares = static_cast<double>(options.levels * options.levels);
  return static_cast<double>(options.bucket) < (options.norm == Norm::l2 ? 4 : 8) * squares;
}

}  // namespace

CodecEntry qsgd_codec_entry() {
  return codec_entry(
      "qsgd",
      "Stochastic rounding to a few levels of each bucket's norm, unbiased (QSGD, arXiv "
      "1610.02132; "
      "codes of fixed length, which may count as Elias codes)",
      qsgd::option_fields(),
      [](const Options& options, const CodecKey& key) {
        return std::make_unique<Qsgd>(options, key);
      },
      enough_levels);
}

}  // namespace trigram
