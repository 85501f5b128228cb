#include <algorithm>
#include <cmath>

#include "core/random/philox.h"
#include "tests/algorithms/update_rules/peer_methods.h"

// SwarmSGD: local steps, and averages in random pairs. The partners of a round are those of the
// graph of random matchings at step number = round number.

namespace trigram::test::swarm_sgd_test {
namespace {

using namespace peer_methods;

Json swarm(const char* mode, int local_steps, const char* interval = "fixed") {
  return {
      {"name", "swarm_sgd"}, {"mode", mode}, {"local_steps", local_steps}, {"interval", interval}};
}

Numbers in_pairs(const Numbers& x, long round) {
  return times(mixing({"random_matching"}, static_cast<int>(x.size()), round), x);
}

class SwarmRule : public PeerMethods {};

TEST_P(SwarmRule, BlockingAveragesInPairsAfterEachInterval) {
  for (const int P : {1, 2, 4, 5, 8})
    for (const int local_steps : {1, 3}) {
      SCOPED_TRACE(testing::Message() << P << " ranks, " << local_steps << " steps");
      Numbers x(static_cast<std::size_t>(P), 1);
      for (long t = 0; t < 7; ++t) {
        x = step_down(x, gradients(x));
        if ((t + 1) % local_steps == 0) x = in_pairs(x, (t + 1) / local_steps - 1);
      }
      expect_near(trained(swarm("blocking", local_steps), flat_cluster(P), 7), x);
    }
}

/// The interval is the number of steps until the first zero among random numbers below the mean. It
/// is drawn for each round.
TEST_P(SwarmRule, GeometricIntervalsAreDrawnForEachRound) {
  constexpr long kSteps = 12;
  constexpr std::uint32_t kMean = 3;
  Numbers x(4, 1);
  std::vector<long> intervals;
  long round = 0, left = 0;
  for (long t = 0; t < kSteps; ++t) {
    if (left == 0) {
      Philox draw(0, 1, round, Purpose::peers);
      do ++left;
      while (draw.below(kMean) != 0);
      intervals.push_back(left);
    }
    x = step_down(x, gradients(x));
    if (--left == 0) x = in_pairs(x, round++);
  }
  expect_near(trained(swarm("blocking", kMean, "geometric"), flat_cluster(4), kSteps), x);
  EXPECT_GT(round, 1);
  EXPECT_NE(intervals, std::vector<long>(intervals.size(), kMean)) << "they differ";
}

/// If workers are equally fast, a round ends before the next step does, so the gradient is taken at
/// the weights before the round.
TEST_P(SwarmRule, NonBlockingAveragesWhileTheNextGradientIsComputed) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "needs workers of exactly equal speed";
  for (const int P : {1, 2, 5, 8})
    for (const int local_steps : {1, 2}) {
      SCOPED_TRACE(testing::Message() << P << " ranks, " << local_steps << " steps");
      Numbers x(static_cast<std::size_t>(P), 1), seen = x;
      for (long t = 0; t < 6; ++t) {
        x = step_down(x, gradients(seen));
        seen = x;
        if ((t + 1) % local_steps == 0) x = in_pairs(x, (t + 1) / local_steps - 1);
      }
      expect_near(trained(swarm("non_blocking", local_steps), flat_cluster(P), 6), x);
    }
}

/// If gradients do not depend on the weights, the mean model follows the mean gradient, whenever
/// models are averaged, and averages keep models together.
TEST_P(SwarmRule, ConservesTheMean) {
  constexpr long kSteps = 40;
  for (const char* mode : {"blocking", "non_blocking"})
    for (const char* interval : {"fixed", "geometric"})
      for (const int P : {2, 5, 8}) {
        SCOPED_TRACE(testing::Message() << mode << " " << interval << " of " << P);
        const Numbers x =
            common_weights(train(training(P, swarm(mode, 2, interval), kSteps, /*slope=*/0)));
        ASSERT_EQ(x.size(), static_cast<std::size_t>(P));
        EXPECT_NEAR(mean(x), 1 - kLr * kSteps * (P + 1) / 2.0, 2e-4);
        const double alone = kLr * kSteps * (P - 1);  // how far ranks drift apart without averages
        const auto [low, high] = std::minmax_element(x.begin(), x.end());
        if (!is_simulated(GetParam()) && mode != std::string("blocking")) continue;
        EXPECT_LT(*high - *low, 0.8 * alone);
      }
}

INSTANTIATE_TEST_SUITE_P(Worlds, SwarmRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::swarm_sgd_test
