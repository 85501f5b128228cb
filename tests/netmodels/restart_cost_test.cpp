// What failures cost a job that restarts, against a simulation of single failures and limits.
#include "netmodels/restart_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace trigram::restart_cost_test {
namespace {

/// The share of useful time in `segments` segments, replayed failure by failure.
double replayed(const RestartCost& cost, double step_s, int nodes, int segments) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> until_failure_s(nodes / cost.node_mtbf_s);
  const double useful_s = static_cast<double>(cost.every) * step_s;
  const double length_s = useful_s + cost.checkpoint_s;
  double all_s = 0;
  for (int i = 0; i < segments; ++i) {
    double failure_s = until_failure_s(random);
    for (; failure_s < length_s; failure_s = until_failure_s(random))
      all_s += failure_s + cost.detection_s + cost.restart_s;
    all_s += length_s;
  }
  return segments * useful_s / all_s;
}

TEST(RestartCost, agrees_with_a_replay_of_failures) {
  const RestartCost cost{
      .node_mtbf_s = 4000, .detection_s = 20, .restart_s = 60, .checkpoint_s = 5, .every = 100};
  for (const int nodes : {1, 8, 32})
    EXPECT_NEAR(cost.goodput(2, nodes), replayed(cost, 2, nodes, 40'000), 0.005) << nodes;
}

TEST(RestartCost, nodes_multiply_the_rate) {
  RestartCost cost{.node_mtbf_s = 3600, .restart_s = 30, .every = 50};
  const double sixteen = cost.goodput(1, 16);
  cost.node_mtbf_s /= 16;
  EXPECT_DOUBLE_EQ(cost.goodput(1, 1), sixteen);
}

TEST(RestartCost, rare_failures_cost_only_checkpoints) {
  const RestartCost cost{.node_mtbf_s = 1e12, .restart_s = 30, .checkpoint_s = 5, .every = 100};
  EXPECT_NEAR(cost.goodput(1, 1), 100.0 / 105, 1e-6);
  EXPECT_EQ(RestartCost{}.goodput(1, 1), 1);
}

TEST(RestartCost, the_interval_is_youngs) {
  const RestartCost cost{.node_mtbf_s = 86'400, .checkpoint_s = 10};
  EXPECT_EQ(cost.interval(0.1, 24), std::llround(std::sqrt(2 * 10 * 3600.0) / 0.1));
  EXPECT_EQ(cost.interval(1e6, 24), 1);
  // It is close to the best one: neither half nor twice as many steps give more.
  const auto with = [&](double factor) {
    RestartCost other = cost;
    other.every = std::llround(factor * static_cast<double>(cost.interval(0.1, 24)));
    return other.goodput(0.1, 24);
  };
  EXPECT_GT(cost.goodput(0.1, 24), with(0.5));
  EXPECT_GT(cost.goodput(0.1, 24), with(2));
}

TEST(RestartCost, a_node_is_there_between_its_absences) {
  const RestartCost cost{.node_mtbf_s = 90, .detection_s = 4, .restart_s = 6};
  EXPECT_DOUBLE_EQ(cost.presence(), 0.9);
  EXPECT_EQ(RestartCost{}.presence(), 1);
}

}  // namespace
}  // namespace trigram::restart_cost_test
