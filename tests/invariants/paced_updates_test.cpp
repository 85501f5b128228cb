#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/training.h"

// Closed forms of the time per step of methods whose averages run beside later steps, or whose
// workers accumulate gradients at their own pace.

namespace trigram::test::paced_updates_test {
namespace {

constexpr int kNodes = 4;
constexpr double kCompute_s = 1.09e-3;  // of a mini-batch of tiny_profile.csv
constexpr double kBytes = 4.0 * 26155;
constexpr long kBatch = 4;  // samples per mini-batch

/// Seconds per step in the long run.
double step_s(const Json& algorithm, double bandwidth_Bps, double slow_factor = 1) {
  Training training;
  training.algorithm = algorithm;
  training.workload = "profile:" TRIGRAM_TEST_DATA "/tiny_profile.csv";
  training.optimizer = {{"name", "sgd"}, {"lr", 0.05}};
  training.cluster = small_cluster(kNodes);
  training.cluster.inter.bandwidth_Bps = bandwidth_Bps;
  training.cluster.accelerator.launch_overhead_s = 0;
  if (slow_factor > 1) training.cluster.slow_workers = {{1, slow_factor}};
  training.steps = 10;
  const double first_s = train(training).seconds();
  training.steps = 50;
  return (train(training).seconds() - first_s) / 40;
}

/// Seconds of a ring allreduce.
double allreduce_s(double bandwidth_Bps) {
  return 2 * (kNodes - 1) * (25e-6 + kBytes / kNodes / bandwidth_Bps);
}

TEST(PacedUpdates, DelayedStepsTakeTheLongerOfComputationAndCommunication) {
  for (const double Bps : {1e9, 0.3e9, 0.05e9, 0.02e9}) {
    SCOPED_TRACE(testing::Message() << Bps << " B/s");
    const double exchange_s = allreduce_s(Bps);
    for (const int delay : {1, 2})
      EXPECT_NEAR(step_s({{"name", "delayed_allreduce"}, {"delay", delay}}, Bps),
                  std::max(kCompute_s, exchange_s), 0.02 * kCompute_s);
    // There is one bucket, whose exchange begins when backward ends.
    EXPECT_NEAR(step_s("gradient_allreduce", Bps), kCompute_s + exchange_s, 0.02 * kCompute_s);
  }
}

/// A worker that has begun a mini-batch when the target is reached finishes it, so at most one
/// mini-batch of the slowest worker is added, and half of one on average.
TEST(PacedUpdates, WorkersAccumulateATargetBatchAtTheirOwnPace) {
  constexpr long kTarget = 520;
  constexpr double kSlow = 4, kBps = 1e9;
  const double samples_per_s = kBatch / kCompute_s * (kNodes - 1 + 1 / kSlow);
  const double together_s = kTarget / samples_per_s;
  const double equal_shares_s = kTarget / (kNodes * kBatch / (kSlow * kCompute_s));
  const double actual_s = step_s({{"name", "dedloc"}, {"target_batch", kTarget}}, kBps, kSlow);
  EXPECT_GT(actual_s, together_s * (1 - 1e-9));
  EXPECT_LT(actual_s, together_s + kSlow * kCompute_s + allreduce_s(kBps) + kCompute_s);
  EXPECT_LT(actual_s, 0.5 * equal_shares_s);
}

/// Mini-batches k = 0, 1, ... of the fast workers are dealt at the times k, and those of the slow
/// worker at 4k. Of 130 mini-batches, the last ones are dealt at 39, so the fast workers get 40 and
/// the slow one gets 10. All workers end together.
TEST(PacedUpdates, DealtMiniBatchesEndTogether) {
  constexpr long kMiniBatches = 130;
  constexpr double kSlow = 4, kBps = 1e9;
  const double least_s = kMiniBatches * kCompute_s / (kNodes - 1 + 1 / kSlow);
  ASSERT_NEAR(least_s, 40 * kCompute_s, 1e-12);
  const Json dealt = {
      {"name", "dedloc"}, {"target_batch", kMiniBatches * kBatch}, {"balance", "throughput"}};
  EXPECT_NEAR(step_s(dealt, kBps, kSlow), least_s + allreduce_s(kBps), 0.05 * kCompute_s);
  // In general, they end within one mini-batch of the slow worker.
  Json uneven = dealt;
  for (const long batches : {37, 131, 200}) {
    uneven["target_batch"] = batches * kBatch;
    const double bound_s = static_cast<double>(batches) * kCompute_s / (kNodes - 1 + 1 / kSlow);
    const double actual_s = step_s(uneven, kBps, kSlow) - allreduce_s(kBps);
    EXPECT_GT(actual_s, bound_s * (1 - 1e-9)) << batches;
    EXPECT_LT(actual_s, bound_s + kSlow * kCompute_s + 0.05 * kCompute_s) << batches;
  }
}

/// Without a slow worker, all make the same number of mini-batches, and a step ends when these do.
TEST(PacedUpdates, EqualWorkersMakeEqualShares) {
  constexpr double kBps = 0.05e9;
  const Json twelve = {{"name", "dedloc"}, {"target_batch", 12 * kBatch}};
  EXPECT_NEAR(step_s(twelve, kBps), 3 * kCompute_s + allreduce_s(kBps), 0.05 * kCompute_s);
  Json delayed = twelve;
  delayed["delay"] = 1;
  EXPECT_NEAR(step_s(delayed, kBps), std::max(3 * kCompute_s, allreduce_s(kBps)),
              0.05 * kCompute_s);
  EXPECT_NEAR(step_s(delayed, 0.02e9), std::max(3 * kCompute_s, allreduce_s(0.02e9)),
              0.1 * kCompute_s);
}

}  // namespace
}  // namespace trigram::test::paced_updates_test
