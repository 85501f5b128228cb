#include "experiments/tune/acquisition.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trigram::acquisition_test {
namespace {

/// E[max(best - y, 0)] for a normal y, by the midpoint rule over 12 deviations.
double improvement_by_integration(double mean, double deviation, double best) {
  constexpr int kSteps = 400'000;
  const double from = mean - 12 * deviation, width = 24 * deviation / kSteps;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double y = from + (i + 0.5) * width, z = (y - mean) / deviation;
    sum += std::max(best - y, 0.0) * std::exp(-z * z / 2) * width;
  }
  return sum / (deviation * std::sqrt(2 * M_PI));
}

TEST(Acquisition, ExpectedImprovementIsTheIntegral) {
  for (const double mean : {-1.0, 0.0, 0.5, 3.0})
    for (const double deviation : {0.1, 1.0, 4.0}) {
      if (mean / deviation > 8) continue;  // the integral itself is inexact so far out
      const double expected = improvement_by_integration(mean, deviation, 0.2);
      EXPECT_NEAR(expected_improvement({mean, deviation}, 0.2), expected, 1e-6 * expected + 1e-12)
          << mean << " " << deviation;
    }
}

TEST(Acquisition, TheLogarithmIsContinuousWhereTheSeriesBegins) {
  const double above = log_expected_improvement({24.999999, 1}, 0);
  const double below = log_expected_improvement({25.000001, 1}, 0);
  EXPECT_NEAR(above, below, 1e-4);  // its slope is -25 there, so this is 5e-5 and the series' error
  EXPECT_GT(above, below);
  EXPECT_TRUE(std::isfinite(log_expected_improvement({1e3, 1}, 0)));
}

TEST(Acquisition, NothingIsGainedWithoutDeviation) {
  EXPECT_EQ(expected_improvement({1, 0}, 0.5), 0);
  EXPECT_DOUBLE_EQ(expected_improvement({0.25, 0}, 1), 0.75);
}

TEST(Acquisition, ProbabilityOfImprovement) {
  EXPECT_DOUBLE_EQ(probability_of_improvement({2, 3}, 2), 0.5);
  EXPECT_NEAR(probability_of_improvement({0, 1}, -1.959963984540054), 0.025, 1e-12);
}

}  // namespace
}  // namespace trigram::acquisition_test
