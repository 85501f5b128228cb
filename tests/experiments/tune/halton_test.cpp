#include "experiments/tune/halton.h"

#include <gtest/gtest.h>

namespace trigram::halton_test {
namespace {

TEST(Halton, RadicalInversesInBases2And3) {
  // The first values as printed in textbooks on quasi-random sequences.
  const double base_2[] = {1. / 2, 1. / 4, 3. / 4, 1. / 8, 5. / 8, 3. / 8, 7. / 8};
  const double base_3[] = {1. / 3, 2. / 3, 1. / 9, 4. / 9, 7. / 9, 2. / 9, 5. / 9};
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_DOUBLE_EQ(radical_inverse(i + 1, 2), base_2[i]) << i;
    EXPECT_DOUBLE_EQ(radical_inverse(i + 1, 3), base_3[i]) << i;
  }
}

TEST(Halton, DimensionsHavePrimeBases) {
  const Position point = halton_point(1, Position(5, 0));
  ASSERT_EQ(point.size(), 5u);
  const double primes[] = {2, 3, 5, 7, 11};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_DOUBLE_EQ(point[i], 1 / primes[i]);
}

TEST(Halton, AShiftWrapsAround) {
  const Position point = halton_point(3, {0.5, 0.25});  // (3/4, 1/9) without the shift
  EXPECT_DOUBLE_EQ(point[0], 0.25);
  EXPECT_DOUBLE_EQ(point[1], 1. / 9 + 0.25);
}

}  // namespace
}  // namespace trigram::halton_test
