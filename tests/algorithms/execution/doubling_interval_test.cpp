#include "algorithms/execution/local_moments.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace trigram::test::doubling_interval_test {
namespace {

TEST(DoublingInterval, DoublesUpToItsMaximum) {
  DoublingInterval interval(/*every=*/3, /*maximum=*/6);
  std::vector<long> ends;
  for (long step = 0; step < 30; ++step) {
    if (interval.ends_at(step)) ends.push_back(step);
    interval.count();
  }
  // The interval is 1 step for the counts 0 to 2, 2 steps for 3 to 5, 4 steps for 6 to 8, then 6
  // steps.
  EXPECT_EQ(ends, (std::vector<long>{0, 1, 2, 4, 8, 12, 18, 24}));
  EXPECT_EQ(DoublingInterval(3, 6).counts_to_maximum(), 9);
  EXPECT_EQ(DoublingInterval(3, 1).counts_to_maximum(), 0);
  EXPECT_EQ(DoublingInterval(1, 8).counts_to_maximum(), 3);
}

TEST(DoublingInterval, MayGrowWithoutEnd) {
  DoublingInterval interval(1, std::numeric_limits<long>::max());
  for (long step = 0; step < 200; ++step) interval.count();
  EXPECT_TRUE(interval.ends_at(0));
  EXPECT_FALSE(interval.ends_at(1L << 62));
}

}  // namespace
}  // namespace trigram::test::doubling_interval_test
