#include "core/random/dirichlet.h"
#include "core/random/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace trigram::dirichlet_test {
namespace {

TEST(Dirichlet, SharesArePositiveAndSumToOne) {
  for (const double alpha : {0.001, 0.1, 1.0, 10.0, 1e6})
    for (long draw = 0; draw < 50; ++draw) {
      Philox random(3, 0, draw, Purpose::data_shards);
      const auto shares = dirichlet(random, alpha, 16);
      double sum = 0;
      for (const double share : shares) {
        EXPECT_GE(share, 0);
        sum += share;
      }
      EXPECT_NEAR(sum, 1, 1e-9) << "alpha " << alpha;
    }
}

/// Each of n shares has mean 1/n and variance (1/n)(1 - 1/n)/(n alpha + 1). Over 20,000 draws the
/// mean is within 5 standard errors with probability 1 - 6e-7, and the relative standard error of
/// the sample variance is at most 0.06.
TEST(Dirichlet, HasItsMeanAndVariance) {
  constexpr std::size_t n = 5;
  constexpr int kDraws = 20000;
  for (const double alpha : {0.05, 0.5, 1.0, 3.0, 50.0}) {
    double sum = 0, squares = 0;
    for (long draw = 0; draw < kDraws; ++draw) {
      Philox random(4, 0, draw, Purpose::data_shards);
      const double share = dirichlet(random, alpha, n)[2];
      sum += share;
      squares += share * share;
    }
    const double mean = sum / kDraws, variance = squares / kDraws - mean * mean;
    const double expected = 0.2 * 0.8 / (static_cast<double>(n) * alpha + 1);
    EXPECT_NEAR(mean, 0.2, 5 * std::sqrt(expected / kDraws)) << "alpha " << alpha;
    EXPECT_NEAR(variance, expected, 0.1 * expected) << "alpha " << alpha;
  }
}

TEST(Dirichlet, OfAlphaOneAndTwoSharesIsUniform) {
  int below[4] = {};
  for (long draw = 0; draw < 20000; ++draw) {
    Philox random(5, 0, draw, Purpose::data_shards);
    const double share = dirichlet(random, 1, 2)[0];
    for (int quarter = 1; quarter < 4; ++quarter) below[quarter] += share < 0.25 * quarter;
  }
  for (int quarter = 1; quarter < 4; ++quarter)  // 5 standard errors
    EXPECT_NEAR(below[quarter] / 20000.0, 0.25 * quarter, 5 * 0.5 / std::sqrt(20000.0));
}

TEST(Dirichlet, DependsOnItsKeyAlone) {
  Philox a(6, 1, 2, Purpose::data_shards), b(6, 1, 2, Purpose::data_shards);
  Philox other(7, 1, 2, Purpose::data_shards);
  const auto shares = dirichlet(a, 0.3, 8);
  EXPECT_EQ(shares, dirichlet(b, 0.3, 8));
  EXPECT_NE(shares, dirichlet(other, 0.3, 8));
}

}  // namespace
}  // namespace trigram::dirichlet_test
