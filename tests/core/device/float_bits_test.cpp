#include "core/element_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace trigram::test::float_bits_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The value of a small float format by its definition: sign, exponent and fraction.
double value_of(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

struct Format {
  const char* name;
  int exponent_bits, fraction_bits;
  float (*load)(std::uint16_t);
  std::uint16_t (*store)(float);
};
const Format kFormats[] = {{"f16", 5, 10, f32_from_f16, f16_from_f32},
                           {"bf16", 8, 7, f32_from_bf16, bf16_from_f32}};

class HalfFormats : public testing::TestWithParam<Format> {
 protected:
  double value(unsigned bits) const {
    return value_of(static_cast<std::uint16_t>(bits), GetParam().exponent_bits,
                    GetParam().fraction_bits);
  }
};

TEST_P(HalfFormats, EveryPatternHasItsValueAndComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float x = GetParam().load(static_cast<std::uint16_t>(bits));
    if (std::isnan(value(bits))) {
      ASSERT_TRUE(std::isnan(x)) << bits;
      ASSERT_TRUE(std::isnan(value(GetParam().store(x)))) << bits;
    } else {
      ASSERT_EQ(x, value(bits)) << bits;
      ASSERT_EQ(GetParam().store(x), bits);
    }
  }
}

TEST_P(HalfFormats, RoundsToNearestTiesToEven) {
  const unsigned infinity = GetParam().store(kInfinity);
  for (unsigned low = 0; low + 1 < infinity; ++low) {
    // The two numbers and the midpoint between them are exact in f32.
    const auto a = static_cast<float>(value(low)), b = static_cast<float>(value(low + 1));
    const float middle = a + (b - a) / 2;
    const unsigned even = low % 2 == 0 ? low : low + 1;
    ASSERT_EQ(GetParam().store(middle), even) << low;
    ASSERT_EQ(GetParam().store(-middle), even | 0x8000) << low;
    ASSERT_EQ(GetParam().store(std::nextafter(middle, 0.f)), low);
    ASSERT_EQ(GetParam().store(std::nextafter(middle, kInfinity)), low + 1);
  }
}

TEST_P(HalfFormats, OverflowsToInfinityFromTheMiddleOn) {
  const unsigned infinity = GetParam().store(kInfinity);
  const double largest = value(infinity - 1), step = largest - value(infinity - 2);
  const auto middle = static_cast<float>(largest + step / 2);
  EXPECT_EQ(GetParam().store(middle), infinity);
  EXPECT_EQ(GetParam().store(std::nextafter(middle, 0.f)), infinity - 1);
  EXPECT_EQ(GetParam().store(-kInfinity), infinity | 0x8000);
  EXPECT_EQ(GetParam().store(std::numeric_limits<float>::denorm_min()), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, HalfFormats, testing::ValuesIn(kFormats),
                         [](const auto& test) { return test.param.name; });

TEST(FloatBits, BytesRoundToNearestTiesToEvenAndSaturate) {
  for (int i = 0; i < 255; ++i) {
    const float middle = static_cast<float>(i) + 0.5f;
    EXPECT_EQ(u8_from_f32(static_cast<float>(i)), i);
    EXPECT_EQ(u8_from_f32(middle), i % 2 == 0 ? i : i + 1);
    EXPECT_EQ(u8_from_f32(std::nextafter(middle, 0.f)), i);
    EXPECT_EQ(u8_from_f32(std::nextafter(middle, 256.f)), i + 1);
  }
  EXPECT_EQ(u8_from_f32(-3), 0);
  EXPECT_EQ(u8_from_f32(1e30f), 255);
  EXPECT_EQ(u8_from_f32(kInfinity), 255);
  EXPECT_EQ(u8_from_f32(std::numeric_limits<float>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace trigram::test::float_bits_test
