#include <gtest/gtest.h>

#include <algorithm>

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

}  // namespace
}  // namespace trigram::test::uneven_batches_test
