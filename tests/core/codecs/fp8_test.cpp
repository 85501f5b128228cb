// The codecs fp8_e4m3 and fp8_e5m2, against a list of all numbers of their formats.

#include <cmath>

#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::fp8_test {
namespace {

struct Format {
  const char* name;
  int mantissa_bits, bias;
  double most;
  std::uint8_t most_code;
};
const Format kE4M3 = {"fp8_e4m3", 3, 7, 448, 0x7E}, kE5M2 = {"fp8_e5m2", 2, 15, 57344, 0x7B};

/// The non-negative numbers of a format in ascending order; a number's code is its position.
std::vector<double> numbers(const Format& format) {
  std::vector<double> all;
  for (int code = 0; code <= format.most_code; ++code) {
    const int exponent = code >> format.mantissa_bits;
    const double fraction = std::ldexp(code % (1 << format.mantissa_bits), -format.mantissa_bits);
    all.push_back(exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                                : std::ldexp(1 + fraction, exponent - format.bias));
  }
  return all;
}

/// The code of the number nearest to x >= 0; of two, the even one.
std::size_t nearest(const std::vector<double>& all, double x) {
  std::size_t best = 0;
  for (std::size_t code = 1; code < all.size(); ++code) {
    const double now = std::abs(all[code] - x), before = std::abs(all[best] - x);
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return best;
}

TEST(Fp8, TheLargestNumbersAreThoseOfTheSpecification) {
  EXPECT_EQ(numbers(kE4M3).back(), 448);
  EXPECT_EQ(numbers(kE5M2).back(), 57344);
}

/// A block whose largest magnitude is that of the format, so that the scale is 1: its own numbers
/// are kept, and the numbers between them are rounded.
TEST(Fp8, RoundsToTheNearestNumberTiesToEven) {
  for (const Format& format : {kE4M3, kE5M2}) {
    const std::vector<double> all = numbers(format);
    Values x = {static_cast<float>(format.most)};
    for (std::size_t code = 0; code + 1 < all.size(); ++code)
      for (const double share : {0.0, 0.25, 0.49, 0.5, 0.51, 0.75})
        for (const int sign : {1, -1})
          x.push_back(static_cast<float>(sign * (all[code] + share * (all[code + 1] - all[code]))));
    for_each_vector_target([&](const char* target) {
      const Coded coded = code({format.name, {{"block", x.size()}}}, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t expected = nearest(all, std::abs(double{x[i]}));
        const int sign = std::signbit(x[i]) ? 0x80 : 0;
        ASSERT_EQ(coded.wire[4 + i], expected | sign) << format.name << x[i] << " on " << target;
        ASSERT_EQ(std::abs(double{coded.decoded[i]}), all[expected]) << x[i];
      }
    });
  }
}

TEST(Fp8, EveryBlockUsesTheWholeRange) {
  Values x = normals(1003, 1.f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= std::exp2(static_cast<float>(i / 100) - 5);
  for (const Format& format : {kE4M3, kE5M2}) {
    const std::vector<double> all = numbers(format);
    const Coded coded = code({format.name, {{"block", 64}}}, x);
    const std::size_t scales = 4 * ((x.size() + 63) / 64);
    for (std::size_t begin = 0; begin < x.size(); begin += 64) {
      const std::size_t end = std::min(begin + 64, x.size());
      double largest = 0;
      for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(double{x[i]}));
      int most = 0;
      for (std::size_t i = begin; i < end; ++i) {
        most = std::max(most, coded.wire[scales + i] & 0x7F);
        const double magnitude = std::abs(double{x[i]});
        const double tolerance = std::max(std::ldexp(magnitude, -1 - format.mantissa_bits),
                                          all[1] / 2 * largest / format.most);
        ASSERT_NEAR(coded.decoded[i], x[i], tolerance * (1 + 1e-5)) << format.name << i;
      }
      EXPECT_EQ(most, format.most_code) << format.name << begin;
    }
  }
}

TEST(Fp8, TheWireHasTheScalesAndAByteForAnElement) {
  EXPECT_EQ(code({"fp8_e4m3"}, {448, -1, 0.001953125f}).wire,
            (Bytes{0, 0, 0x80, 0x3F, 0x7E, 0xB8, 0x01}));
  EXPECT_EQ(code({"fp8_e5m2"}, {-57344, 1}).wire, (Bytes{0, 0, 0x80, 0x3F, 0xFB, 0x3C}));
}

}  // namespace
}  // namespace trigram::test::fp8_test
