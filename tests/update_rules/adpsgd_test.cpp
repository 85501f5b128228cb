#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithms/peers/active_passive.h"
#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

// AD-PSGD: pairwise averages, against its equations and what it conserves.

namespace trigram::test {
namespace {

constexpr double kLr = 0.125;

class AdPsgdRule : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string reason = world_unavailable(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  std::vector<double> weights(int ranks, const Json& algorithm, long steps, double slope) {
    return common_weights(train({.world = GetParam(),
                                 .cluster = flat_cluster(ranks),
                                 .algorithm = algorithm,
                                 .steps = steps,
                                 .slope = slope,
                                 .lr = kLr}));
  }
};

/// With gradients that do not depend on the weights, the mean model goes down the mean gradient
/// whoever averages with whom and when.
TEST_P(AdPsgdRule, ConservesTheMean) {
  constexpr long kSteps = 40;
  for (const int ranks : {2, 4, 5, 8})
    for (const int interval : {1, 3}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, interval " << interval);
      const auto x = weights(ranks, {{"name", "adpsgd"}, {"interval_steps", interval}}, kSteps, 0);
      ASSERT_EQ(x.size(), static_cast<std::size_t>(ranks));
      EXPECT_NEAR(mean(x), 1 - kLr * kSteps * (ranks + 1) / 2.0, 2e-4);
      if (!is_simulated(GetParam())) continue;  // passive workers may be done before anybody asks
      const double alone = kLr * kSteps * (ranks - 1);  // how far ranks drift apart
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      EXPECT_LT(*high - *low, 0.7 * alone) << "averages bring models together";
    }
}

/// Three steps alone, then one average of every active rank, in some order.
TEST_P(AdPsgdRule, AveragesWithThePartnerThatIsDrawn) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "needs workers of exactly equal speed";
  for (const int ranks : {2, 4, 8}) {
    std::vector<double> x(static_cast<std::size_t>(ranks), 1);
    for (int t = 0; t < 3; ++t)
      for (std::size_t r = 0; r < x.size(); ++r)
        x[r] -= kLr * (0.5 * x[r] + static_cast<double>(r) + 1);
    auto upwards = x, downwards = x;  // the orders in which the averages may come
    const auto average = [ranks](std::vector<double>& models, int active) {
      double& own = models[static_cast<std::size_t>(active)];
      double& other = models[static_cast<std::size_t>(passive_partner(0, active, ranks, 2))];
      own = other = (own + other) / 2;
    };
    for (int active = 0; active < ranks; active += 2) average(upwards, active);
    for (int active = ranks - 2; active >= 0; active -= 2) average(downwards, active);
    const auto actual = weights(ranks, {{"name", "adpsgd"}, {"interval_steps", 3}}, 3, 0.5);
    for (std::size_t r = 0; r < x.size(); ++r)
      EXPECT_TRUE(std::abs(actual[r] - upwards[r]) < 1e-5 ||
                  std::abs(actual[r] - downwards[r]) < 1e-5)
          << ranks << " ranks, rank " << r << ": " << actual[r] << ", expected " << upwards[r]
          << " or " << downwards[r];
  }
}

TEST_P(AdPsgdRule, OneWorkerStepsAlone) {
  double x = 1;
  for (int t = 0; t < 3; ++t) x -= kLr * (0.5 * x + 1);
  expect_near(weights(1, "adpsgd", 3, 0.5), {x});
}

INSTANTIATE_TEST_SUITE_P(Worlds, AdPsgdRule, ::testing::ValuesIn(world_names()),
                         [](const auto& world) { return world.param; });

TEST(ActivePassive, EveryRankHasOneRole) {
  EXPECT_EQ(active_ranks(5), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(passive_ranks(5), (std::vector<int>{1, 3}));
  for (int rank = 0; rank < 5; ++rank) {
    const auto passive = passive_ranks(5);
    EXPECT_EQ(is_passive(rank), std::count(passive.begin(), passive.end(), rank) == 1);
  }
}

/// Draws are uniform over the passive ranks: with 6,000 draws of probability 1/4 a count differs
/// from 1,500 by more than 4.5 standard deviations (151) once in 150,000 tests.
TEST(ActivePassive, PartnersAreUniform) {
  constexpr int kRanks = 8, kDraws = 6000;
  for (const int rank : {0, 6}) {
    std::vector<int> counts(kRanks, 0);
    for (long step = 0; step < kDraws; ++step)
      ++counts[static_cast<std::size_t>(passive_partner(7, rank, kRanks, step))];
    for (int partner = 0; partner < kRanks; ++partner)
      EXPECT_NEAR(counts[static_cast<std::size_t>(partner)], is_passive(partner) ? 1500 : 0, 151);
  }
}

}  // namespace
}  // namespace trigram::test
