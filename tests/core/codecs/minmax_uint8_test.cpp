#include <gmock/gmock.h>

#include <cmath>

#include "core/device/null_device.h"
#include "tests/oracles/codec_references.h"
#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::minmax_uint8_test {
namespace {

/// The default codec, minmax_uint8.
Coded code(const Values& values) { return test::code({}, values); }

// Chunks of all kinds, with names.
std::vector<std::pair<std::string, Values>> chunks() {
  std::vector<std::pair<std::string, Values>> all;
  for (std::size_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 1000, 100003}) {
    all.push_back({"normal " + std::to_string(n), normals(n, 0.02f, 0)});
  }
  // With a range of 255 the scale is exactly 1, and halves are ties.
  for (float min : {0.f, -100.f, -100.5f, 0.5f, 300.5f}) {
    Values ties;
    for (int i = 0; i <= 510; ++i) ties.push_back(min + static_cast<float>(i) / 2);
    all.push_back({"ties from " + std::to_string(min), ties});
  }
  all.push_back({"shifted", normals(777, 1e-3f, 5)});
  all.push_back({"all negative", normals(777, 1, -100)});
  all.push_back({"tiny", normals(777, 1e-30f, 0)});
  all.push_back({"huge", normals(777, 1e30f, 0)});
  all.push_back({"narrow", {1, 1.00001f}});
  all.push_back({"narrow, negative", Values(100, -1.00001f)});
  all.back().second[57] = -1;
  all.push_back({"constant 1", Values(70, 1)});
  all.push_back({"constant -3e7", Values(70, -3e7f)});
  all.push_back({"zeros of both signs", {0.f, -0.f, 0.f, -0.f, -0.f}});
  all.push_back({"neighbours", {1e20f, std::nextafter(1e20f, 2e20f)}});
  return all;
}

TEST(MinMaxUInt8, EqualsTheReferenceOnEveryVectorTarget) {
  int targets = 0;
  for_each_vector_target([&](const char* target) {
    ++targets;
    for (const auto& [name, values] : chunks()) {
      const Coded coded = code(values);
      const Bytes wire = minmax_uint8_encode(values);
      ASSERT_EQ(coded.wire, wire) << name << " on " << target;
      const Values expected = minmax_uint8_decode(wire, values.size());
      ASSERT_TRUE(same_bits(coded.decoded, expected)) << name << " on " << target;
    }
  });
  EXPECT_GE(targets, 1);
}

TEST(MinMaxUInt8, ErrorIsWithinHalfAStep) {
  for (const auto& [name, values] : chunks()) {
    if (values.empty()) continue;
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    const double magnitude = std::max(std::abs(*min), std::abs(*max));
    // Half a step, plus three f32 roundings of numbers as large as the largest.
    const double bound = (static_cast<double>(*max) - *min + 1e-7) / 510 + magnitude * 0x3p-24;
    const Values decoded = code(values).decoded;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_LE(std::abs(static_cast<double>(decoded[i]) - values[i]), bound) << name << ", " << i;
    }
  }
}

TEST(MinMaxUInt8, ZeroIsExact) {
  Values values = normals(100, 1, 0.3f);
  values[17] = 0;
  values[99] = -0.f;
  const Values decoded = code(values).decoded;
  EXPECT_EQ(decoded[17], 0);
  EXPECT_EQ(decoded[99], 0);
}

TEST(MinMaxUInt8, ConstantAndNarrowChunksDoNotOverflowTheirCodes) {
  for (float constant : {1.f, -1.f, 0.f, 3.14e-5f, 1e20f, 1e30f, -3e38f}) {
    for (float x : code(Values(40, constant)).decoded) {
      EXPECT_NEAR(x, constant, std::abs(constant) * 2e-7) << constant;
    }
  }
  const Values narrow = code({1, 1.00001f}).decoded;
  EXPECT_NEAR(narrow[0], 1, 3e-7);
  EXPECT_NEAR(narrow[1], 1.00001f, 3e-7);
}

TEST(MinMaxUInt8, ARangeThatOverflowsDecodesToNaN) {
  for_each_vector_target([&](const char* target) {
    for (float x : code({-3e38f, 0, 3e38f}).decoded) ASSERT_TRUE(std::isnan(x)) << target;
    // An overflowing sum does not matter: only the range counts.
    for (float x : code(Values(100, 2e38f)).decoded) ASSERT_EQ(x, 2e38f) << target;
  });
}

TEST(Codecs, AnUnknownNameIsAConfigErrorThatNamesTheNearest) {
  EXPECT_THAT(config_error_text([] { NullDevice().codec({"minmax_uint9"}); }),
              ::testing::HasSubstr("minmax_uint8"));
}

}  // namespace
}  // namespace trigram::test::minmax_uint8_test
