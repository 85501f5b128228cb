#include "core/math/low_rank.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trigram::test::matrix_shape_test {
namespace {

TEST(NearlySquare, HoldsTheVectorWithTheSmallestSumOfSides) {
  for (std::size_t n = 1; n <= 3000; ++n) {
    const auto [rows, cols] = nearly_square(n);
    ASSERT_GE(rows * cols, n);
    ASSERT_LT(rows * cols - n, cols) << n;
    std::size_t smallest_sum = 1 + n;
    for (std::size_t r = 1; r <= n; ++r) smallest_sum = std::min(smallest_sum, r + (n + r - 1) / r);
    ASSERT_EQ(rows + cols, smallest_sum) << n;
  }
}

TEST(NearlySquare, KnownShapes) {
  const auto is = [](std::size_t n, std::size_t rows, std::size_t cols) {
    const auto shape = nearly_square(n);
    return shape.rows == rows && shape.cols == cols;
  };
  EXPECT_TRUE(is(0, 0, 0));
  EXPECT_TRUE(is(1, 1, 1));
  EXPECT_TRUE(is(2, 1, 2));
  EXPECT_TRUE(is(12, 3, 4));
  EXPECT_TRUE(is(1'000'000, 1000, 1000));
  EXPECT_TRUE(is(1'000'003, 1000, 1001));
  EXPECT_TRUE(is(std::size_t{1} << 62, std::size_t{1} << 31, std::size_t{1} << 31));
}

}  // namespace
}  // namespace trigram::test::matrix_shape_test
