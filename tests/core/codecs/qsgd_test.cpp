#include <gmock/gmock.h>

#include <cmath>

#include "core/codecs/qsgd_kernels.h"
#include "core/random/philox.h"
#include "tests/oracles/codec_references.h"
#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::qsgd_test {
namespace {

using ::testing::StartsWith;

CodecSpec spec_of(const QsgdFormat& format) {
  return {"qsgd",
          {{"levels", format.levels},
           {"bucket", format.bucket},
           {"norm", format.max_norm ? "max" : "l2"}}};
}

constexpr QsgdFormat kFormats[] = {
    {127, 8, 512, false}, {7, 4, 512, false}, {1, 2, 100, true},   {3, 3, 64, false},
    {15, 5, 33, true},    {20, 6, 1, false},  {63, 7, 5000, true}, {127, 8, 1000, true},
};

TEST(BitPacking, PacksEightCodesAndUnpacksThem) {
  for (int bits = 1; bits <= 8; ++bits) {
    std::uint64_t bytes = 0, expected = 0;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t code = (0x9D7C3B5Au >> 3 * i) & ((1u << bits) - 1);
      bytes |= code << 8 * i;
      expected |= code << bits * i;
    }
    EXPECT_EQ(pack_eight(bytes, bits), expected) << bits;
    const std::uint64_t above = bits == 8 ? 0 : ~std::uint64_t{0} << 8 * bits;
    EXPECT_EQ(unpack_eight(expected | above, bits), bytes) << bits;
  }
}

TEST(Qsgd, EqualsTheReferenceOnEveryVectorTarget) {
  const CodecKey key{5, 2, 7};
  const Philox random(5, 2, 7, Purpose::codec);
  for_each_vector_target([&](const char* target) {
    for (const QsgdFormat& format : kFormats) {
      for (const std::size_t n : {1, 3, 31, 32, 33, 63, 64, 65, 512, 513, 10007}) {
        const Values x = normals(n, 0.02f, 0.001f);
        const Coded coded = code(spec_of(format), x, key);
        const Values norms = qsgd_norms(format, coded.wire, n);
        for (std::size_t b = 0; b < norms.size(); ++b) {
          const std::size_t begin = b * format.bucket;
          const double exact = qsgd_norm(format, &x[begin], std::min(format.bucket, n - begin));
          ASSERT_NEAR(norms[b] / exact, 1, 0x1p-23) << target;
        }
        ASSERT_TRUE(same_bytes(coded.wire, qsgd_wire(format, x, norms, random)))
            << format.levels << " levels, " << n << " on " << target;
      }
    }
  });
}

TEST(Qsgd, DecodesToTheLevelOnEitherSide) {
  for (const QsgdFormat& format : kFormats) {
    const Values x = normals(10007);
    const Coded coded = code(spec_of(format), x);
    const Values norms = qsgd_norms(format, coded.wire, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double step = double{norms[i / format.bucket]} / format.levels;
      ASSERT_LT(std::abs(double{coded.decoded[i]} - x[i]), step * (1 + 1e-4)) << format.levels;
      const double level = coded.decoded[i] / step;
      ASSERT_NEAR(level, std::round(level), 1e-4);
      ASSERT_LE(std::abs(level), format.levels + 1e-4);
    }
  }
}

// Compares the mean of many encodings with the value, in units of the mean's standard deviation: z,
// which is normal in the limit. For an unbiased code the sum of z over N elements is normal with
// variance N, and the sum of z^2 has mean N and standard deviation sqrt(2N). The test allows 6
// standard deviations for both. An unbiased code exceeds this for less than one seed in 10^7 (the
// sum of squares is slightly skewed).
TEST(Qsgd, IsUnbiasedWithTheStatedVariance) {
  constexpr int kCodings = 4000;
  for (const QsgdFormat& format : {kFormats[0], kFormats[1], kFormats[2]}) {
    HostDevice device;
    auto codec = device.codec(spec_of(format), {11, 0, 0});
    const Values x = normals(1000, 1, 0.2f);
    const Tensor in = to_tensor(device, x), wire = codec->empty_wire(device, in);
    const Tensor out = device.empty(x.size());
    std::vector<double> sum(x.size());
    for (int t = 0; t < kCodings; ++t) {
      codec->encode(wire, in);
      codec->decode(out, wire);
      for (std::size_t i = 0; i < x.size(); ++i) sum[i] += out.floats()[i];
    }
    const auto bytes = wire.values<std::uint8_t>();
    const Values norms = qsgd_norms(format, {bytes.begin(), bytes.end()}, x.size());
    double z_sum = 0, z_squares = 0, counted = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double step = double{norms[i / format.bucket]} / format.levels;
      const double above = x[i] / step - std::floor(x[i] / step);
      const double variance = step * step * above * (1 - above) / kCodings;
      if (above * (1 - above) * kCodings < 10) continue;  // too few draws to be nearly normal
      const double z = (sum[i] / kCodings - x[i]) / std::sqrt(variance);
      z_sum += z;
      z_squares += z * z;
      counted += 1;
    }
    EXPECT_GT(counted, 900);
    EXPECT_LT(std::abs(z_sum), 6 * std::sqrt(counted)) << format.levels;
    EXPECT_NEAR(z_squares, counted, 6 * std::sqrt(2 * counted)) << format.levels;
  }
}

TEST(Qsgd, AnElementThatEqualsTheNormIsExact) {
  EXPECT_EQ(code({"qsgd"}, {0, -3.5f, 0}).decoded, (Values{0, -3.5f, 0}));
  const Values x = code({"qsgd", {{"norm", "max"}, {"levels", 1}}}, {2.f, 0.f, -2.f}).decoded;
  EXPECT_EQ(x, (Values{2, 0, -2}));
}

TEST(Qsgd, NormsBeyondTheRangeOfFloats) {
  for (const float v : code({"qsgd"}, Values(600, 1e38f)).decoded) EXPECT_TRUE(std::isnan(v));
  const CodecSpec max{"qsgd", {{"norm", "max"}}};
  EXPECT_EQ(code(max, Values(600, 1e38f)).decoded, Values(600, 1e38f));
  EXPECT_EQ(code({"qsgd"}, Values(600, 1e-40f)).decoded, Values(600, 0.f));
  // A bucket that is not finite does not affect other buckets.
  Values x(1024, 1);
  x[700] = std::nanf("");
  const Values decoded = code(max, x).decoded;
  EXPECT_EQ(decoded[511], 1);
  EXPECT_TRUE(std::isnan(decoded[512]));
}

TEST(Qsgd, RefusesOptionsOutOfRange) {
  const auto error_of = [](const char* option, const Json& value) {
    return codec_error({{"name", "qsgd"}, {option, value}});
  };
  for (const int levels : {0, -1, 128})
    EXPECT_THAT(error_of("levels", levels), StartsWith("/codec/levels: "));
  EXPECT_THAT(error_of("bucket", 0), StartsWith("/codec/bucket: "));
  EXPECT_THAT(error_of("norm", "l1"), StartsWith("/codec/norm: "));
  EXPECT_EQ(error_of("levels", 7), "no error");
}

}  // namespace
}  // namespace trigram::test::qsgd_test
