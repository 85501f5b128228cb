#include "netmodels/balanced_run_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "netmodels/machines.h"
#include "tests/support/clusters.h"

namespace trigram::balanced_run_times_test {
namespace {

using testing::HasSubstr;

constexpr int kRanks = 8;
constexpr long kSteps = 100;

RunTimes balanced(double random_level = 0) {
  RunTimes times;
  times.kind = RunTimes::Shape::lognormal;
  times.variation = 0.6;
  times.seed = 3;
  times.order = LoaderOptions::Order::balanced;
  times.random_level = random_level;
  times.epoch_steps = kSteps;
  return times;
}

std::vector<double> factors_of(const auto& draws) {
  std::vector<double> factors;
  for (long step = 0; step < kSteps; ++step)
    for (int rank = 0; rank < kRanks; ++rank) factors.push_back(draws.factor(rank, step));
  return factors;
}

/// The mean over steps of the slowest rank's factor.
double slowest(const std::vector<double>& factors) {
  double sum = 0;
  for (auto step = factors.begin(); step != factors.end(); step += kRanks)
    sum += *std::max_element(step, step + kRanks);
  return sum / kSteps;
}

TEST(BalancedRunTimes, ArrangeTheDrawsOfAnEpochInGroupsOfNeighbours) {
  auto drawn = factors_of(RunTimeDraws(balanced()));
  auto dealt = factors_of(BalancedRunTimes(balanced(), kRanks));
  EXPECT_FALSE(std::ranges::is_sorted(dealt)) << "groups are permuted";
  std::vector<std::vector<double>> groups;
  for (auto step = dealt.begin(); step != dealt.end(); step += kRanks)
    groups.emplace_back(step, step + kRanks);
  for (auto& group : groups) std::ranges::sort(group);
  std::ranges::sort(groups);
  std::ranges::sort(drawn);
  for (std::size_t i = 0; i < drawn.size(); ++i)
    EXPECT_EQ(groups[i / kRanks][i % kRanks], drawn[i]);
}

TEST(BalancedRunTimes, RepeatAfterAnEpoch) {
  const BalancedRunTimes times(balanced(), kRanks);
  for (long step = 0; step < kSteps; ++step)
    EXPECT_EQ(times.factor(5, step), times.factor(5, step + 2 * kSteps));
}

TEST(BalancedRunTimes, NoiseLeavesSomeOfTheWait) {
  const double none = slowest(factors_of(RunTimeDraws(balanced())));
  const double half = slowest(factors_of(BalancedRunTimes(balanced(0.5), kRanks)));
  const double full = slowest(factors_of(BalancedRunTimes(balanced(), kRanks)));
  EXPECT_LT(full, 1.1);
  EXPECT_LT(1.1 * full, half);
  EXPECT_LT(1.05 * half, none);
}

TEST(BalancedRunTimes, AreAnOptionOfClusters) {
  const std::string cluster =
      R"({"nodes": 8, "run_times": {"kind": "lognormal", "variation": 0.6, "seed": 3, )";
  const auto machine = make_machine_model(
      test::cluster_of(cluster + R"("order": "balanced", "epoch_steps": 100}})"));
  const BalancedRunTimes expected(balanced(), kRanks);
  EXPECT_EQ(machine->compute_factor(6, 17), expected.factor(6, 17));
  EXPECT_THAT(test::error_of(cluster + R"("order": "sorted"}})"),
              HasSubstr("/cluster/run_times/order"));
  EXPECT_THAT(test::error_of(cluster + R"("random_level": 0.5}})"),
              HasSubstr("/cluster/run_times/random_level: only the order balanced sorts draws"));
  EXPECT_THAT(test::error_of(cluster + R"("order": "balanced", "random_level": 1.5}})"),
              HasSubstr("/cluster/run_times/random_level: expected a number from 0 to 1"));
}

}  // namespace
}  // namespace trigram::balanced_run_times_test
