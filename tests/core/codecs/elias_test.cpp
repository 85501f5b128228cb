// The priced size of QSGD's codes as Elias codes, compared with a coder that writes these codes bit
// by bit.

#include <cmath>
#include <limits>

#include "core/codecs/registry.h"
#include "core/config/config_error.h"
#include "tests/oracles/codec_sizes.h"
#include "tests/support/codec_testing.h"

namespace trigram::test::elias_test {
namespace {

using Bits = std::vector<bool>;
using Levels = std::vector<int>;

/// Elias' gamma code of k: floor(log2 k) zeros, then the bits of k.
void write_gamma(Bits& to, unsigned k) {
  int length = 0;
  while (k >> (length + 1) > 0) ++length;
  to.insert(to.end(), static_cast<std::size_t>(length), false);
  for (int bit = length; bit >= 0; --bit) to.push_back((k >> bit & 1) != 0);
}

class Reader {
 public:
  explicit Reader(const Bits& bits) : bits_(bits) {}
  bool bit() { return bits_.at(at_++); }
  unsigned gamma() {
    int length = 0;
    while (!bit()) ++length;
    unsigned k = 1;
    for (; length > 0; --length) k = 2 * k + (bit() ? 1 : 0);
    return k;
  }

 private:
  const Bits& bits_;
  std::size_t at_ = 0;
};

Bits dense(const Levels& levels) {
  Bits bits;
  for (const int level : levels) {
    write_gamma(bits, static_cast<unsigned>(std::abs(level)) + 1);
    if (level != 0) bits.push_back(level < 0);
  }
  return bits;
}

Levels read_dense(const Bits& bits, std::size_t n) {
  Reader reader(bits);
  Levels levels;
  while (levels.size() < n) {
    const int magnitude = static_cast<int>(reader.gamma()) - 1;
    levels.push_back(magnitude > 0 && reader.bit() ? -magnitude : magnitude);
  }
  return levels;
}

Bits sparse(const Levels& levels) {
  Bits bits;
  write_gamma(bits, 1 + static_cast<unsigned>(levels.size()) -
                        static_cast<unsigned>(std::count(levels.begin(), levels.end(), 0)));
  std::size_t next = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] == 0) continue;
    write_gamma(bits, static_cast<unsigned>(i - next) + 1);
    bits.push_back(levels[i] < 0);
    write_gamma(bits, static_cast<unsigned>(std::abs(levels[i])));
    next = i + 1;
  }
  return bits;
}

Levels read_sparse(const Bits& bits, std::size_t n) {
  Reader reader(bits);
  Levels levels(n, 0);
  std::size_t next = 0;
  for (unsigned left = reader.gamma() - 1; left > 0; --left) {
    next += reader.gamma();
    const bool negative = reader.bit();
    levels.at(next - 1) = static_cast<int>(reader.gamma()) * (negative ? -1 : 1);
  }
  return levels;
}

CodecSpec spec_of(int levels, std::size_t bucket) {
  return {"qsgd", {{"levels", levels}, {"bucket", bucket}, {"coding", "elias"}}};
}

/// The quantisation levels of one bucket.
Levels levels_of(const CodecSpec& spec, int s, const Values& x, long use) {
  const Coded coded = code(spec, x, {.use = use});
  float norm = 0;
  std::memcpy(&norm, coded.wire.data(), sizeof(norm));
  Levels levels;
  for (const float value : coded.decoded)
    levels.push_back(
        norm == 0 ? 0 : static_cast<int>(std::lround(value * static_cast<float>(s) / norm)));
  return levels;
}

struct Case {
  int levels;
  std::size_t n;
};
constexpr Case kCases[] = {{1, 1},    {127, 1},   {1, 512},  {3, 64},   {7, 512},
                           {22, 512}, {127, 512}, {16, 256}, {127, 64}, {1, 4096}};

/// Vectors of many kinds. They include the vectors with the longest code for each form.
std::vector<std::pair<const char*, Values>> vectors(std::size_t n) {
  Values equal(n, 1), spike(n, 0), few = spike, falling = spike;
  spike[n / 2] = -3;
  for (std::size_t i = 0; i < n; i += 7) few[i] = 0.5f + static_cast<float>(i);
  for (std::size_t i = 0; i < n; ++i) falling[i] = 1 / static_cast<float>(i + 1);
  return {{"normal", normals(n)}, {"equal", equal},     {"spike", spike},
          {"few", few},           {"falling", falling}, {"nothing", Values(n, 0)}};
}

TEST(Elias, TheMeanLengthOfCodesIsAtMostTheirPricedSize) {
  constexpr long kKeys = 40;
  for (const auto& [s, n] : kCases) {
    const CodecSpec spec = spec_of(s, n);
    const std::size_t priced = make_host_codec(spec, {})->priced_bytes(n);
    double longest = 0;
    for (const auto& [name, x] : vectors(n)) {
      double dense_bits = 0, sparse_bits = 0;
      for (long use = 0; use < kKeys; ++use) {
        const Levels levels = levels_of(spec, s, x, use);
        const Bits both[] = {dense(levels), sparse(levels)};
        ASSERT_EQ(read_dense(both[0], n), levels);
        ASSERT_EQ(read_sparse(both[1], n), levels);
        dense_bits += static_cast<double>(both[0].size()) / kKeys;
        sparse_bits += static_cast<double>(both[1].size()) / kKeys;
      }
      // The sender uses one form for all vectors; its mean length must not exceed the priced size.
      const double bits = codec_counts_dense(s, n) ? dense_bits : sparse_bits;
      EXPECT_LE(4 + bits / 8, static_cast<double>(priced) + 1e-9)
          << s << " levels of " << n << ", " << name;
      longest = std::max(longest, 4 + bits / 8);
    }
    EXPECT_GT(longest, 0.6 * static_cast<double>(priced))
        << "the bound should be close to the longest code: " << s << ' ' << n;
  }
}

TEST(Elias, ChangesThePricedSizeButNotTheWire) {
  for (const std::size_t n : {1, 100, 512, 1300}) {
    Json fixed = {{"levels", 3}, {"bucket", 512}}, elias = fixed;
    elias["coding"] = "elias";
    const Values x = normals(n);
    EXPECT_EQ(code({"qsgd", fixed}, x).wire, code({"qsgd", elias}, x).wire);
    HostDevice device;
    const Tensor wire = device.codec({"qsgd", elias})->empty_wire(device, to_tensor(device, x));
    elias["norm"] = "l2";
    EXPECT_EQ(wire.priced_numel(), codec_priced_bytes("qsgd", elias, n));
  }
}

TEST(Elias, NeedsTheEuclideanNorm) {
  EXPECT_THROW(make_host_codec({"qsgd", {{"norm", "max"}, {"coding", "elias"}}}, {}), ConfigError);
}

}  // namespace
}  // namespace trigram::test::elias_test
