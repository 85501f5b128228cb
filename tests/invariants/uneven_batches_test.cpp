#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "netmodels/machines.h"
#include "tests/support/training.h"

// Batches of uneven length: training runs on a profile whose run times are drawn from a published
// distribution. The draws are the same in every world.

namespace trigram::test::uneven_batches_test {
namespace {

/// A run in which only the workload's own computation takes time on a worker.
Training with_published_run_times(const std::string& workload, const std::string& name) {
  Training training;
  training.workload = workload;
  training.algorithm = {{"name", "gradient_allreduce"}, {"overlap", false}};
  training.cluster = small_cluster(4);
  training.cluster.inter = {1e12, 1e-6};
  training.cluster.accelerator = {.name = "",
                                  .flops_per_s = 1e24,
                                  .memory_Bps = 1e21,
                                  .launch_overhead_s = 0,
                                  .overlap_slowdown = 1};
  training.cluster.run_times.kind = RunTimes::Shape::published;
  training.cluster.run_times.name = name;
  training.steps = 20;
  return training;
}

class UnevenBatches
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, double>> {};

/// All workers wait for the longest batch of each step.
TEST_P(UnevenBatches, AStepTakesAsLongAsItsLongestBatch) {
  const auto& [workload, name, step_s] = GetParam();
  Training training = with_published_run_times(workload, name);
  const auto machine = make_machine_model(training.cluster);
  double longest_s = 0;
  for (long t = 0; t < training.steps; ++t) {
    double factor = 0;
    for (int rank = 0; rank < 4; ++rank)
      factor = std::max(factor, machine->compute_factor(rank, t));
    longest_s += factor * step_s;
  }
  EXPECT_GT(longest_s, 1.01 * static_cast<double>(training.steps) * step_s);
  EXPECT_NEAR(train(training).seconds() / longest_s, 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Published, UnevenBatches,
                         ::testing::Values(std::tuple{"transformer_base", "wmt17_transformer", 0.3},
                                           std::tuple{"ddppo", "habitat_ddppo", 1.98754}));

/// A worker's computation takes the drawn time in simulation, and at least that time in real time.
TEST(UnevenBatches, HaveTheSameDrawsInEveryWorld) {
  Training training = with_published_run_times(
      "profile:" + std::string(TRIGRAM_TEST_DATA) + "/one_tensor_profile.csv", "wmt17_transformer");
  const auto machine = make_machine_model(training.cluster);
  for (const char* world : {"sim", "threads"}) {
    training.world = world;
    const Trained trained = train(training);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      double expected_s = 0;
      for (long t = 0; t < training.steps; ++t)
        expected_s += 1e-3 * machine->compute_factor(static_cast<int>(rank), t);
      EXPECT_GE(trained.counters.at(rank).compute_s, expected_s * (1 - 1e-9)) << world;
      if (training.world == "sim") {
        EXPECT_NEAR(trained.counters[rank].compute_s, expected_s, 1e-9);
      }
    }
  }
}

/// The expected maximum of `ranks` draws from a distribution with the given quantile function: the
/// integral of quantile(u) d(u^ranks) from 0 to 1, by the midpoint rule.
double expected_maximum(int ranks, const std::function<double(double)>& quantile) {
  constexpr int kPieces = 200'000;
  double sum = 0;
  for (int i = 0; i < kPieces; ++i) {
    const double a = static_cast<double>(i) / kPieces, b = static_cast<double>(i + 1) / kPieces;
    sum += quantile((a + b) / 2) * (std::pow(b, ranks) - std::pow(a, ranks));
  }
  return sum;
}

/// Linear between the published quartiles of a Transformer on WMT17 (seconds).
double wmt17_quantile(double u) {
  constexpr double kQuartiles[] = {0.05, 0.19, 0.26, 0.365, 0.72};
  const int quarter = std::min(3, static_cast<int>(4 * u));
  return std::lerp(kQuartiles[quarter], kQuartiles[quarter + 1], 4 * u - quarter);
}

/// 201 ms plus a lognormal time, at most 3,410 ms, with the published mean and deviation of an LSTM
/// on UCF101. The normal quantile is found by bisection.
double ucf101_quantile(double u) {
  const double mean = 1235 - 201, deviation = 706;
  const double variance = std::log1p(deviation * deviation / (mean * mean));
  double low = -6, high = 6;
  for (int i = 0; i < 40; ++i) {
    const double z = (low + high) / 2;
    (std::erfc(-z / std::sqrt(2)) / 2 < u ? low : high) = z;
  }
  return std::min(3410., 201 + mean * std::exp(std::sqrt(variance) * low - variance / 2));
}

/// Balanced batches save the share of the time that workers wait for the longest of R random
/// batches: 1 - E[c] / E[max of R draws].
TEST(UnevenBatches, BalancingSavesThePredictedShareOfTheTime) {
  const std::pair<const char*, double (*)(double)> published[] = {
      {"wmt17_transformer", wmt17_quantile}, {"ucf101_lstm", ucf101_quantile}};
  for (const auto& [name, quantile] : published) {
    Training training = with_published_run_times(
        "profile:" + std::string(TRIGRAM_TEST_DATA) + "/one_tensor_profile.csv", name);
    training.steps = 400;
    training.cluster.run_times.epoch_steps = 400;
    const double random_s = train(training).seconds();
    training.cluster.run_times.order = LoaderOptions::Order::balanced;
    const double saved = 1 - train(training).seconds() / random_s;
    const double predicted = 1 - expected_maximum(1, quantile) / expected_maximum(4, quantile);
    EXPECT_GT(predicted, 0.2) << name;
    EXPECT_NEAR(saved / predicted, 1, 0.15) << name;
  }
}

}  // namespace
}  // namespace trigram::test::uneven_batches_test
