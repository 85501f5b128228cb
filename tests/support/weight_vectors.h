#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace trigram::test {

using Vector = std::vector<float>;
using Vectors = std::vector<Vector>;  // by rank

/// Fails the test unless the weights of all ranks are the expected ones.
inline void expect_vectors_near(const Vectors& actual, const Vectors& expected, float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t r = 0; r < actual.size(); ++r) {
    ASSERT_EQ(actual[r].size(), expected[r].size());
    for (std::size_t i = 0; i < actual[r].size(); ++i)
      EXPECT_NEAR(actual[r][i], expected[r][i], tolerance) << "rank " << r << ", weight " << i;
  }
}

inline double largest_difference(const Vectors& a, const Vectors& b) {
  float largest = 0;
  for (std::size_t r = 0; r < a.size(); ++r)
    for (std::size_t i = 0; i < a[r].size(); ++i)
      largest = std::max(largest, std::abs(a[r][i] - b[r][i]));
  return static_cast<double>(largest);
}

}  // namespace trigram::test
