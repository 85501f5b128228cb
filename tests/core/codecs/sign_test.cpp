#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/oracles/codec_references.h"
#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::sign_test {
namespace {

const CodecSpec kL2{"sign"}, kL1{"sign", {{"scale", "l1_mean"}}};

float scale_of(const Bytes& wire) {
  float scale = 0;
  std::memcpy(&scale, wire.data(), sizeof(scale));
  return scale;
}

TEST(Sign, EqualsTheReferenceOnEveryVectorTarget) {
  for_each_vector_target([&](const char* target) {
    for (const std::size_t n : {1, 2, 3, 7, 8, 9, 31, 32, 33, 1000, 100003}) {
      for (const CodecSpec& spec : {kL2, kL1}) {
        const Values x = normals(n, 0.02f, 0.003f);
        const Coded coded = code(spec, x);
        const float scale = scale_of(coded.wire);
        ASSERT_NEAR(scale / sign_scale(x, spec.options.contains("scale")), 1, 0x1p-23) << n;
        ASSERT_EQ(coded.wire, sign_wire(x, scale)) << n << " on " << target;
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(coded.decoded[i], x[i] < 0 ? -scale : scale) << n << " on " << target;
        }
      }
    }
  });
}

/// Includes vectors with only one sign.
TEST(Sign, MeansAreOfTheNonNegativeAndOfTheNegativeElements) {
  for_each_vector_target([&](const char* target) {
    for (const std::size_t n : {1, 2, 3, 7, 8, 9, 31, 32, 33, 1000, 100003})
      for (const float mean : {-1.f, 0.003f, 1.f}) {
        const Values x = normals(n, 0.02f, mean);
        const Coded coded = code({"sign", {{"scale", "means"}}}, x);
        const SignLevels levels = sign_means(x);
        ASSERT_EQ(coded.wire.size(), 8 + (n + 7) / 8);
        const Bytes bits = sign_wire(x, 0);
        ASSERT_TRUE(std::equal(bits.begin() + 4, bits.end(), coded.wire.begin() + 8)) << target;
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_FLOAT_EQ(coded.decoded[i],
                          static_cast<float>(x[i] < 0 ? levels.minus : levels.plus))
              << n << " on " << target;
        }
      }
  });
}

TEST(Sign, ScaleOneGivesTheSignAlone) {
  EXPECT_EQ(code({"sign", {{"scale", "one"}}}, {3.f, -0.25f, 0.f, -0.f}).decoded,
            (Values{1, -1, 1, 1}));
}

TEST(Sign, ZerosOfBothSignsArePositive) {
  const Values decoded = code(kL2, {0.f, -0.f, 2.f, -2.f}).decoded;
  EXPECT_EQ(decoded, (Values{decoded[2], decoded[2], decoded[2], -decoded[2]}));
  EXPECT_FLOAT_EQ(decoded[2], std::sqrt(2.f));
}

TEST(Sign, KeepsTheNormAndTheMeanMagnitude) {
  const Values x = normals(1000);
  EXPECT_NEAR(norm2_squared(code(kL2, x).decoded) / norm2_squared(x), 1, 1e-6);
  double before = 0, after = 0;
  for (const float v : x) before += std::abs(v);
  for (const float v : code(kL1, x).decoded) after += std::abs(v);
  EXPECT_NEAR(after / before, 1, 1e-6);
}

TEST(Sign, MeanMagnitudeIsTheBestScale) {
  // c = ||x||_1 / n minimises ||x - c sign(x)||, so l1_mean is a contraction.
  const Values x = normals(1000);
  const double l1 = distance_squared(x, code(kL1, x).decoded);
  EXPECT_LT(l1, distance_squared(x, code(kL2, x).decoded));
  EXPECT_LT(l1, norm2_squared(x));
}

TEST(Sign, LargeAndTinyValuesNeitherOverflowNorVanish) {
  EXPECT_FLOAT_EQ(code(kL2, Values(100, -3e38f)).decoded[99], -3e38f);
  EXPECT_FLOAT_EQ(code(kL1, Values(100, -3e38f)).decoded[99], -3e38f);
  EXPECT_FLOAT_EQ(code(kL2, Values(100, 1e-38f)).decoded[99], 1e-38f);
}

TEST(Sign, RefusesOtherScales) {
  EXPECT_THAT(codec_error({{"name", "sign"}, {"scale", "l1"}}),
              ::testing::StartsWith("/codec/scale: "));
}

}  // namespace
}  // namespace trigram::test::sign_test
