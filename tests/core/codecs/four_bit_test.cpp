// The codecs e3m0 and int4, against the nearest value of all that a block can have.

#include <cmath>
#include <numeric>

#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::four_bit_test {
namespace {

/// The value nearest to x among `candidates`, in double precision; of two, the later.
double nearest(const std::vector<double>& candidates, double x) {
  double best = candidates.front();
  for (const double c : candidates)
    if (std::abs(c - x) <= std::abs(best - x)) best = c;
  return best;
}

/// 0 and the powers of two from 1/64 of the largest power to it, in ascending order.
std::vector<double> powers_of_two(double largest) {
  const double top = nearest(
      {std::exp2(std::floor(std::log2(largest))), std::exp2(std::floor(std::log2(largest)) + 1)},
      largest);
  std::vector<double> all = {0};
  for (int i = 6; i >= 0; --i) all.push_back(std::ldexp(top, -i));
  return all;
}

double largest_of(const Values& x, std::size_t begin, std::size_t end) {
  double largest = 0;
  for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(double{x[i]}));
  return largest;
}

/// Normal numbers, whose blocks differ in scale, and some ties.
Values samples() {
  Values x = normals(1003, 1.f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= std::exp2(static_cast<float>(i / 100) - 5);
  for (std::size_t i = 0; i < x.size(); i += 9)
    x[i] = std::exp2(-static_cast<float>(i % 12)) * 1.5f;
  return x;
}

TEST(FourBit, E3M0DecodesToTheNearestPowerOfTwo) {
  const Values x = samples();
  for_each_vector_target([&](const char* target) {
    const Values decoded = code({"e3m0", {{"block", 64}}}, x).decoded;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t begin = i / 64 * 64, end = std::min(begin + 64, x.size());
      const auto values = powers_of_two(largest_of(x, begin, end));
      const double expected = nearest(values, std::abs(double{x[i]}));
      ASSERT_EQ(std::abs(decoded[i]), expected) << x[i] << " at " << i << " on " << target;
      ASSERT_EQ(std::signbit(decoded[i]), expected > 0 && std::signbit(x[i])) << i;
    }
  });
}

TEST(FourBit, Int4DecodesToTheNearestMultiple) {
  const Values x = samples();
  for_each_vector_target([&](const char* target) {
    const Values decoded = code({"int4", {{"block", 64}}}, x).decoded;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t begin = i / 64 * 64, end = std::min(begin + 64, x.size());
      const double step = largest_of(x, begin, end) / 7;
      const double q = decoded[i] / step;
      ASSERT_NEAR(q, std::round(q), 1e-5) << target;
      ASSERT_LE(std::abs(decoded[i] - double{x[i]}), step * (0.5 + 1e-5)) << i << " on " << target;
      ASSERT_LE(std::abs(q), 7 + 1e-5);
    }
  });
}

TEST(FourBit, TheWireHasTheScalesAndTwoCodesInAByte) {
  const Bytes floats = code({"e3m0"}, {1, -0.5f, 0.25f}).wire;
  EXPECT_EQ(floats, (Bytes{127, 0xE7, 0x05}));
  const Bytes integers = code({"int4"}, {7, -7, 2}).wire;
  EXPECT_EQ(integers, (Bytes{0, 0, 0x80, 0x3F, 0x97, 0x02}));
}

/// Blocks are independent: each has its own scale.
TEST(FourBit, OneBlockDoesNotChangeAnother) {
  for (const char* name : {"e3m0", "int4"}) {
    Values x = normals(96, 1.f);
    const Values before = code({name, {{"block", 32}}}, x).decoded;
    x[40] = std::nanf("");
    const Values after = code({name, {{"block", 32}}}, x).decoded;
    for (std::size_t i = 0; i < 96; ++i) {
      if (i / 32 == 1) EXPECT_TRUE(std::isnan(after[i])) << name << i;
      else EXPECT_EQ(after[i], before[i]) << name << i;
    }
  }
}

TEST(FourBit, ABlockHasAnEvenNumberOfElements) {
  EXPECT_EQ(codec_error({{"name", "int4"}, {"block", 33}}).substr(0, 12), "/codec/block");
}

}  // namespace
}  // namespace trigram::test::four_bit_test
