// The codec int2, against the four values that a block can have.

#include <cmath>

#include "tests/support/codec_testing.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::int2_test {
namespace {

/// The element of largest magnitude of a block, of two the positive one.
double extreme(const Values& x, std::size_t begin, std::size_t end) {
  double best = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double v = x[i];
    if (std::abs(v) > std::abs(best) || (v > 0 && v == -best)) best = v;
  }
  return best;
}

TEST(Int2, DecodesToTheNearestOfFourValues) {
  Values x = normals(1003, 1.f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= std::exp2(static_cast<float>(i / 100) - 5);
  x[70] = -(x[80] = 100);  // a tie of magnitudes
  for_each_vector_target([&](const char* target) {
    const Values decoded = code({"int2", {{"block", 64}}}, x).decoded;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t begin = i / 64 * 64;
      const double m = extreme(x, begin, std::min(begin + 64, x.size()));
      double best = 0;
      for (const double value : {m, m / 2, -m / 2})
        if (std::abs(value - x[i]) < std::abs(best - x[i])) best = value;
      ASSERT_NEAR(decoded[i], best, 1e-6 * std::abs(m)) << x[i] << " at " << i << " on " << target;
    }
  });
}

/// Of 7, -2 and 3, with a step of -3.5: -2, 1 and -1. Four codes in a byte.
TEST(Int2, TheWireHasTheScalesAndFourCodesInAByte) {
  const Bytes wire = code({"int2"}, {7, -2, 3, 0.5f, -7}).wire;
  EXPECT_EQ(wire, (Bytes{0, 0, 0x60, 0xC0, 0b00110110, 0b01}));
}

TEST(Int2, ABlockHasAMultipleOfFourElements) {
  EXPECT_EQ(codec_error({{"name", "int2"}, {"block", 6}}).substr(0, 12), "/codec/block");
}

}  // namespace
}  // namespace trigram::test::int2_test
