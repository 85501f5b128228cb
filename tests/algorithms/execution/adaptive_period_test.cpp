// The steps after which workers average if losses decide, compared with the formula.

#include "algorithms/execution/adaptive_period.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test::adaptive_period_test {
namespace {

constexpr long kFirst = 8, kSteps = 40;

/// The loss of a rank's mini-batch: the mean over the ranks falls.
double loss_at(int rank, long step) {
  return (rank + 1) * std::pow(0.9, static_cast<double>(step));
}

class AdaptivePeriodTest : public WorldTest {
 protected:
  /// The steps after which each rank averages.
  std::vector<std::vector<float>> averages(double every_s) {
    return vectors_in_world(world(), flat_cluster(ranks()), [every_s](Context ctx) {
      auto comm = ctx.stream->fork("comm");
      AdaptivePeriod period(ctx, kFirst, every_s, {});
      std::vector<float> steps;
      for (long step = 0; step < kSteps; ++step) {
        const bool due = period.due();
        ctx.stream->compute(1e-3);
        period.end_step(loss_at(ctx.world_rank, step));
        if (!due) continue;
        steps.push_back(static_cast<float>(step));
        period.end_block(ctx, *comm);
      }
      return steps;
    });
  }
  /// The same if every average changes the period.
  std::vector<float> expected() {
    std::vector<float> steps;
    double first = 0;
    long period = kFirst;
    for (long begin = 0; begin + period <= kSteps;) {
      double loss = 0;
      for (long step = begin; step < begin + period; ++step)
        loss += loss_at(0, step) / static_cast<double>(period);  // the ranks' ratio is the same
      begin += period;
      steps.push_back(static_cast<float>(begin - 1));
      if (first == 0) first = loss;
      period = static_cast<long>(std::ceil(kFirst * std::sqrt(loss / first) - 1e-6));
    }
    return steps;
  }
};

TEST_P(AdaptivePeriodTest, FollowsTheLoss) {
  const auto steps = expected();
  ASSERT_LT(steps.back() - steps[steps.size() - 2], kFirst / 2.0) << "the period falls";
  for (const auto& of_rank : averages(1e-9)) EXPECT_EQ(of_rank, steps);
}

TEST_P(AdaptivePeriodTest, StaysUntilTheTimeHasPassed) {
  for (const auto& of_rank : averages(1e3))
    EXPECT_EQ(of_rank, (std::vector<float>{7, 15, 23, 31, 39}));
}

INSTANTIATE_TEST_SUITE_P(Worlds, AdaptivePeriodTest, every_world(1, 3, 4), world_test_name);

}  // namespace
}  // namespace trigram::test::adaptive_period_test
