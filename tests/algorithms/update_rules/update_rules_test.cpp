#include <gtest/gtest.h>

#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

// The update rule of each algorithm, computed by hand for a gradient that is a known function of
// the weights: g_r(x) = slope x + r + 1. All weights of a rank are equal, so one number per rank is
// enough.

namespace trigram::test::update_rules_test {
namespace {

constexpr double kLr = 0.125;
constexpr double kSlope = 0.5;

double gradient(double x, std::size_t rank) { return kSlope * x + static_cast<double>(rank) + 1; }

/// The weights after `steps` steps, by rank.
std::vector<double> train(const std::string& world, const Cluster& cluster, const Json& algorithm,
                          long steps, double slope = kSlope) {
  return common_weights(test::train({.world = world,
                                     .cluster = cluster,
                                     .algorithm = algorithm,
                                     .steps = steps,
                                     .slope = slope,
                                     .lr = kLr}));
}

/// The weights of all ranks after `steps` steps of x_r = mix(x, t)_r - lr g_r(x_r), where x_r
/// starts at 1. The gradient is taken at the old weights.
template <class Mix>
std::vector<double> expected_weights(std::size_t ranks, long steps, Mix mix) {
  std::vector<double> x(ranks, 1);
  for (long t = 0; t < steps; ++t) {
    std::vector<double> next = mix(x, t);
    for (std::size_t r = 0; r < ranks; ++r) next[r] -= kLr * gradient(x[r], r);
    x = next;
  }
  return x;
}

std::vector<double> mix_ring(const std::vector<double>& x) {
  const std::size_t P = x.size();
  std::vector<double> mixed(P);
  for (std::size_t r = 0; r < P; ++r) mixed[r] = (x[r] + x[(r + 1) % P] + x[(r + P - 1) % P]) / 3;
  return mixed;
}

/// The lower half is paired with the upper half, shifted by one more in every step.
std::vector<double> mix_shift_one(const std::vector<double>& x, long t) {
  const std::size_t half = x.size() / 2;
  std::vector<double> mixed(x.size());
  for (std::size_t r = 0; r < half; ++r) {
    const std::size_t peer = half + (r + static_cast<std::size_t>(t)) % half;
    mixed[r] = mixed[peer] = (x[r] + x[peer]) / 2;
  }
  return mixed;
}

std::vector<double> mix_all(const std::vector<double>& x) {
  return std::vector<double>(x.size(), mean(x));
}

/// Applies `mix` to the means of nodes of two workers, and gives the result to both workers.
template <class Mix>
std::vector<double> in_nodes_of_two(const std::vector<double>& x, Mix mix) {
  std::vector<double> nodes;
  for (std::size_t r = 0; r < x.size(); r += 2) nodes.push_back((x[r] + x[r + 1]) / 2);
  nodes = mix(nodes);
  std::vector<double> mixed;
  for (const double node : nodes) mixed.insert(mixed.end(), 2, node);
  return mixed;
}

Json decentralized(const char* mode, bool hierarchical) {
  return {{"name", "decentralized"}, {"mode", mode}, {"hierarchical", hierarchical}};
}

class UpdateRules : public NamedWorldTest {};

TEST_P(UpdateRules, DecentralizedTakesTheGradientAtTheOldWeights) {
  const auto by_ring = [](const auto& x, long) { return mix_ring(x); };
  const auto by_all = [](const auto& x, long) { return mix_all(x); };
  expect_near(train(GetParam(), flat_cluster(5), decentralized("ring", false), 6),
              expected_weights(5, 6, by_ring));
  expect_near(train(GetParam(), flat_cluster(5), decentralized("all", false), 6),
              expected_weights(5, 6, by_all));
  expect_near(train(GetParam(), flat_cluster(6), decentralized("shift_one", false), 7),
              expected_weights(6, 7, mix_shift_one));
}

/// Steps 0, 3 and 6 mix. The partner changes from one of these steps to the next.
TEST_P(UpdateRules, DecentralizedIsLocalBetweenItsExchanges) {
  const auto every_third = [](const auto& x, long t) {
    return t % 3 == 0 ? mix_shift_one(x, t / 3) : x;
  };
  for (const char* bucket : {"0B", "10GB"}) {
    Json spec = decentralized("shift_one", false);
    spec["communication_interval"] = 3;
    spec["bucket"] = bucket;
    expect_near(train(GetParam(), flat_cluster(6), spec, 8), expected_weights(6, 8, every_third));
  }
}

TEST_P(UpdateRules, HierarchicalDecentralizedMixesTheMeansOfNodes) {
  const auto shift_one = [](const auto& x, long t) {
    return in_nodes_of_two(x, [t](const auto& nodes) { return mix_shift_one(nodes, t); });
  };
  const auto by_ring = [](const auto& x, long) { return in_nodes_of_two(x, mix_ring); };
  expect_near(train(GetParam(), nodes_of_two(4), decentralized("shift_one", true), 7),
              expected_weights(8, 7, shift_one));
  for (const bool overlap : {false, true}) {
    Json in_buckets = decentralized("ring", true);
    in_buckets["bucket"] = "0B";
    in_buckets["overlap"] = overlap;
    for (const Json& spec : {decentralized("ring", true), in_buckets})
      expect_near(train(GetParam(), nodes_of_two(3), spec, 7), expected_weights(6, 7, by_ring));
  }
}

TEST_P(UpdateRules, GradientMethodsStepWithTheMeanGradient) {
  const auto expected = [](std::size_t ranks) {
    double x = 1;
    for (int t = 0; t < 6; ++t) {
      double sum = 0;
      for (std::size_t r = 0; r < ranks; ++r) sum += gradient(x, r);
      x -= kLr * sum / static_cast<double>(ranks);
    }
    return std::vector<double>(ranks, x);
  };
  for (const bool hierarchical : {false, true}) {
    const Json exact = {{"name", "gradient_allreduce"}, {"hierarchical", hierarchical}};
    expect_near(train(GetParam(), nodes_of_two(3), exact, 6), expected(6));
    // All values of a part are equal, so the code has an error of at most half a step of its grid.
    const Json coded = {{"name", "bytegrad"}, {"hierarchical", hierarchical}};
    expect_near(train(GetParam(), nodes_of_two(3), coded, 6), expected(6));
  }
}

/// Averages conserve the sum of all models, whenever they happen. If gradients do not depend on the
/// weights, the mean model follows the mean gradient, as it does without communication.
TEST_P(UpdateRules, AsyncAveragesConserveTheMean) {
  const long steps = 30;
  const double P = 4, mean_gradient = (P + 1) / 2;
  const double expected = 1 - kLr * static_cast<double>(steps) * mean_gradient;
  // The distance by which ranks would drift apart without averages.
  const double alone = kLr * static_cast<double>(steps) * (P - 1);
  for (const Json& algorithm :
       {Json{{"name", "async_model_average"}, {"interval_steps", 1}},
        Json{{"name", "async_model_average"}, {"interval_steps", 4}, {"warmup_steps", 5}},
        Json{{"name", "async_model_average"}, {"interval", "300us"}}}) {
    const auto x = train(GetParam(), flat_cluster(4), algorithm, steps, 0);
    ASSERT_EQ(x.size(), 4u);
    EXPECT_NEAR(mean(x), expected, 1e-4) << algorithm;
    // In real time, a busy machine may not complete a single average.
    if (is_simulated(GetParam()) || algorithm.contains("interval_steps")) {
      EXPECT_LT(x[0] - x[3], 0.9 * alone) << algorithm << " brings models together";
    }
  }
}

/// An average by steps uses the models of its step, however late it ends. At the end, ranks differ
/// only by the steps since the last average.
TEST_P(UpdateRules, AsyncAveragesByStepsUseTheModelsOfTheirStep) {
  const long steps = 14;
  for (const long interval : {1, 4, 5}) {
    const Json algorithm = {{"name", "async_model_average"}, {"interval_steps", interval}};
    const auto x = train(GetParam(), flat_cluster(4), algorithm, steps, 0);
    ASSERT_EQ(x.size(), 4u);
    for (std::size_t rank = 0; rank < 3; ++rank)
      EXPECT_NEAR(x[rank] - x[rank + 1], kLr * static_cast<double>(steps % interval), 1e-4)
          << "every " << interval << " steps, rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, UpdateRules, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::update_rules_test
