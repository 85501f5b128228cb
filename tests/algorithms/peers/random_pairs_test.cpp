#include "algorithms/peers/random_pairs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trigram::test::random_pairs_test {
namespace {

std::vector<long> due(const RandomPairs& pairs, long steps) {
  std::vector<long> after;
  for (long step = 0; step < steps; ++step)
    if (pairs.due_after(step, static_cast<long>(after.size()))) after.push_back(step);
  return after;
}

TEST(RandomPairs, HaveAFixedInterval) {
  EXPECT_EQ(due(RandomPairs(1, Interval::fixed, 3, 10), 10), (std::vector<long>{2, 5, 8}));
}

/// 4,000 intervals of a geometric distribution with mean m. Their mean must be off by less than
/// four of its standard deviations, sqrt(m (m - 1)) / sqrt(4000).
TEST(RandomPairs, HaveTheGivenMeanInterval) {
  for (const std::int64_t mean : {1, 4}) {
    const long steps = 4000 * mean;
    const RandomPairs pairs(7, Interval::geometric, mean, steps);
    const double m = static_cast<double>(mean), count = static_cast<double>(pairs.count());
    EXPECT_NEAR(static_cast<double>(steps) / count, m, 4 * std::sqrt(m * (m - 1) / 4000) + 1e-2);
  }
}

/// The drawing stops at the end of the run, whatever the mean. A longer run begins with the rounds
/// of a shorter one.
TEST(RandomPairs, EndWithTheRun) {
  EXPECT_EQ(RandomPairs(1, Interval::geometric, 1 << 30, 10).count(), 0);
  const auto few = due(RandomPairs(3, Interval::geometric, 4, 50), 50);
  auto many = due(RandomPairs(3, Interval::geometric, 4, 500), 500);
  ASSERT_GT(many.size(), few.size());
  many.resize(few.size());
  EXPECT_EQ(many, few);
}

}  // namespace
}  // namespace trigram::test::random_pairs_test
