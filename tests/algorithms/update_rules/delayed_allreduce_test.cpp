// SGD along gradients of earlier steps, computed by hand, and the learning rates with which it
// converges.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::delayed_allreduce_test {
namespace {

using namespace centralised;

class DelayedAllreduceRule : public CentralisedRules {};

TEST_P(DelayedAllreduceRule, StepsAlongTheMeanGradientOfAnEarlierStep) {
  for (const int delay : {0, 1, 3}) {
    const auto expected = [delay](std::size_t ranks) {
      std::vector<double> path = {1};
      for (int t = 0; t < 8; ++t) {
        double x = path.back();
        if (t >= delay) x -= kLr * mean_gradient(path[static_cast<std::size_t>(t - delay)], ranks);
        path.push_back(x);
      }
      return std::vector<double>(ranks, path.back());
    };
    check({{"name", "delayed_allreduce"}, {"delay", delay}}, 8, expected);
  }
}

TEST_P(DelayedAllreduceRule, IsAnAllreduceWithoutADelay) {
  const auto weights = [](const Json& algorithm) {
    AffineTraining run = training(4, algorithm, 6);
    run.tilt = 0.3;
    run.optimizer = {{"name", "sgd"}, {"lr", 0.1}, {"momentum", 0.9}};
    return weights_of(train(run));
  };
  EXPECT_EQ(weights({{"name", "delayed_allreduce"}, {"delay", 0}}), weights("gradient_allreduce"));
}

TEST_P(DelayedAllreduceRule, KeepsAllReplicasEqualAfterEveryStep) {
  AffineTraining run = training(4, {{"name", "delayed_allreduce"}, {"delay", 2}}, 9);
  for (const auto& step : paths(train(run)))
    for (const double x : step) EXPECT_EQ(x, step[0]);
}

INSTANTIATE_TEST_SUITE_P(Worlds, DelayedAllreduceRule, every_named_world(), named_world_test_name);

/// The distance from the optimum after many steps on a function with curvature `slope`, relative to
/// the distance at first.
double distance(long delay, double lr_slope) {
  constexpr double kCurvature = 0.5, kOptimum = -1.5 / kCurvature;  // of ranks 0 and 1 together
  const auto ends = train({.world = "threads",
                           .cluster = flat_cluster(2),
                           .algorithm = {{"name", "delayed_allreduce"}, {"delay", delay}},
                           .steps = 600,
                           .slope = kCurvature,
                           .lr = lr_slope / kCurvature,
                           .compute_s = 0});
  return std::abs(common_weights(ends)[0] - kOptimum) / (1 - kOptimum);
}

/// With a delay of 1 the errors follow z^2 = z - lr h, with roots inside the unit circle if and
/// only if lr h < 1. Without a delay, z = 1 - lr h, so lr h < 2.
TEST(DelayedAllreduceStability, BoundsTheLearningRate) {
  EXPECT_LT(distance(0, 1.9), 1e-3);
  EXPECT_GT(distance(0, 2.05), 1e3);
  EXPECT_LT(distance(1, 0.95), 1e-3);
  EXPECT_GT(distance(1, 1.05), 1e3);
}

}  // namespace
}  // namespace trigram::test::delayed_allreduce_test
