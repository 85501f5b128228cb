// Federated averaging: the drawn workers train, computed by hand, and the other workers do not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithms/peers/random_workers.h"
#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::fedavg_test {
namespace {

using namespace centralised;

constexpr std::uint64_t kSeed = 0;  // of an AffineTraining

class FedAvgRule : public AffineTest {};

/// The weights of all workers after each step. `m` workers are drawn for a round of `H` steps.
std::vector<std::vector<double>> reference(int ranks, int steps, int m, int H) {
  std::vector<std::vector<double>> path;
  double global = 1;
  std::vector<double> x(static_cast<std::size_t>(ranks), 1);
  for (int t = 0; t < steps; ++t) {
    const auto drawn = random_workers(kSeed, t / H, m, ranks);
    if (t % H == 0)
      for (const int r : drawn) x[static_cast<std::size_t>(r)] = global;
    for (const int r : drawn) {
      double& weight = x[static_cast<std::size_t>(r)];
      weight -= kLr * gradient(weight, static_cast<std::size_t>(r));
    }
    const bool last = t + 1 == steps;
    if ((t + 1) % H == 0 || last) {
      global = 0;
      for (const int r : drawn) global += x[static_cast<std::size_t>(r)] / m;
      for (const int r : drawn) x[static_cast<std::size_t>(r)] = global;
      // The workers of the next round get the model at the end of this round.
      for (const int r : random_workers(kSeed, t / H + 1, last ? ranks : m, ranks))
        x[static_cast<std::size_t>(r)] = global;
    }
    path.push_back(x);
  }
  return path;
}

TEST_P(FedAvgRule, AveragesTheModelsOfTheDrawnWorkers) {
  constexpr int kRanks = 6;
  for (const auto& [m, fraction] : {std::pair{1, 0.0}, std::pair{2, 0.34}, std::pair{3, 0.5}})
    for (const int steps : {8, 9}) {
      SCOPED_TRACE(testing::Message() << m << " workers, " << steps << " steps");
      const auto actual = paths(train(training(
          kRanks, {{"name", "fedavg"}, {"fraction", fraction}, {"sync_every", 2}}, steps, kSlope)));
      const auto expected = reference(kRanks, steps, m, 2);
      ASSERT_EQ(actual.size(), expected.size());
      for (std::size_t t = 0; t < actual.size(); ++t) {
        SCOPED_TRACE(t);
        expect_near(actual[t], expected[t]);
      }
      EXPECT_EQ(std::ranges::count(actual.back(), actual.back()[0]), kRanks);
    }
}

TEST_P(FedAvgRule, IsLocalSgdIfAllWorkersAreDrawn) {
  const auto weights = [](const Json& algorithm) {
    AffineTraining run = training(4, algorithm, 9);
    run.tilt = 0.3;
    return weights_of(train(run));
  };
  EXPECT_EQ(weights({{"name", "fedavg"}, {"fraction", 1}, {"sync_every", 3}}),
            weights({{"name", "local_sgd"}, {"sync_every", 3}}));
}

INSTANTIATE_TEST_SUITE_P(Worlds, FedAvgRule, every_named_world(), named_world_test_name);

TEST(RandomWorkers, AreDifferentRanksInOrder) {
  for (long round = 0; round < 100; ++round) {
    const auto drawn = random_workers(7, round, 5, 12);
    ASSERT_EQ(drawn.size(), 5u);
    EXPECT_TRUE(std::ranges::is_sorted(drawn, std::less_equal<>())) << "and never twice";
    EXPECT_GE(drawn.front(), 0);
    EXPECT_LT(drawn.back(), 12);
  }
}

/// A worker is left out of R rounds with the probability (1 - m/P)^R.
TEST(RandomWorkers, AreLeftOutByChance) {
  constexpr int kSize = 1000, kCount = 100;
  std::vector<int> times(kSize, 0);
  for (long round = 0; round < 20; ++round) {
    for (const int rank : random_workers(3, round, kCount, kSize))
      ++times[static_cast<std::size_t>(rank)];
    const double expected = kSize * std::pow(0.9, static_cast<double>(round + 1));
    EXPECT_NEAR(static_cast<double>(std::ranges::count(times, 0)), expected,
                4 * std::sqrt(expected));
  }
}

}  // namespace
}  // namespace trigram::test::fedavg_test
