// DropCompute: the contribution of late workers, and the automatic threshold.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "algorithms/execution/compute_threshold.h"
#include "core/random/philox.h"
#include "tests/algorithms/update_rules/centralised_rules.h"
#include "tests/support/training.h"

namespace trigram::test::dropcompute_test {
namespace {

using namespace centralised;

class DropComputeRules : public CentralisedRules {};

/// In steps 3 and 5 the last worker is delayed for longer than the threshold, so it computes only
/// one of three micro-batches. In step 1 nothing is dropped yet, and it computes all three.
TEST_P(DropComputeRules, LeaveOutMicroBatchesThatLateWorkersHaveNotBegun) {
  constexpr int kRanks = 4, kBatches = 3, kSteps = 6;
  for (const bool by_all : {true, false}) {
    SCOPED_TRACE(by_all);
    double x = 1;
    for (int t = 0; t < kSteps; ++t) {
      double sum = 0;
      for (int r = 0; r < kRanks; ++r) {
        const bool late = r == kRanks - 1 && (t == 3 || t == 5);
        const double share = late && by_all ? 1.0 / kBatches : 1;
        sum += share * gradient(x, static_cast<std::size_t>(r));
      }
      x -= kLr * sum / kRanks;
    }
    const auto ends = train({.world = GetParam(),
                             .cluster = flat_cluster(kRanks),
                             .algorithm = {{"name", "dropcompute"},
                                           {"micro_batches", kBatches},
                                           {"threshold", "700ms"},
                                           {"divisor", by_all ? "all" : "done"}},
                             .steps = kSteps,
                             .slope = kSlope,
                             .lr = kLr,
                             .delay = [](int rank, long step) {
                               return rank == kRanks - 1 && step % 2 == 1 ? 0.8 : 0;
                             }});
    expect_near(common_weights(ends), std::vector<double>(kRanks, x));
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, DropComputeRules, every_named_world(), named_world_test_name);

constexpr int kBatches = 4;

/// The mean gain of a threshold over the steps, by the rule that workers follow.
double gain(const std::vector<ComputeTimes>& workers, double threshold) {
  const std::size_t steps = workers[0].exchange_s.size();
  double sum = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    double all = 0, end = 0, exchange = std::numeric_limits<double>::infinity(), done = 0;
    for (const ComputeTimes& worker : workers) {
      exchange = std::min(exchange, worker.exchange_s[i]);
      all = std::max(all, worker.end_s[(i + 1) * kBatches - 1]);
      for (std::size_t m = 0; m < kBatches; ++m) {
        const double at = worker.end_s[i * kBatches + m];
        end = std::max(end, at);
        ++done;
        if (at > threshold) break;
      }
    }
    sum +=
        (all + exchange) / (end + exchange) * done / static_cast<double>(kBatches * workers.size());
  }
  return sum / static_cast<double>(steps);
}

TEST(ComputeThreshold, GainsMoreThanAnyOtherThreshold) {
  int drops = 0;
  for (int draw = 0; draw < 20; ++draw) {
    std::vector<ComputeTimes> workers(5);
    Philox random(7, draw, 0, Purpose::machine_delay);
    double last = 0;
    for (ComputeTimes& worker : workers)
      for (int i = 0; i < 6; ++i) {
        double at = random.uniform() < 0.15 ? 4 * random.uniform() : 0;  // a delay
        for (int m = 0; m < kBatches; ++m)
          worker.end_s.push_back(at += 0.1 + 0.05 * random.uniform());
        worker.exchange_s.push_back(0.02 + random.uniform());
        last = std::max(last, at);
      }
    const double best = best_threshold(workers, kBatches);
    drops += best < last;
    for (double other = 0; other < last + 0.1; other += 0.001)
      EXPECT_GE(gain(workers, best), gain(workers, other) * (1 - 1e-12)) << other;
  }
  EXPECT_GT(drops, 2);
}

/// All workers finish at the same time, so dropping anything is a loss.
TEST(ComputeThreshold, DropsNothingIfWorkersAreAlike) {
  const std::vector<ComputeTimes> workers(3, {{1, 2, 3, 4, 1, 2, 3, 4}, {10, 10}});
  EXPECT_EQ(best_threshold(workers, kBatches), std::numeric_limits<double>::infinity());
}

/// The late worker, which is half a micro-batch behind, has finished three micro-batches when the
/// other workers have finished four.
TEST(ComputeThreshold, StopsTheLateWorkerBeforeItsLastMicroBatch) {
  const std::vector<ComputeTimes> workers = {
      {{1, 2, 3, 4}, {1.5}}, {{1, 2, 3, 4}, {1.5}}, {{1.5, 2.5, 3.5, 4.5}, {1}}};
  EXPECT_EQ(best_threshold(workers, kBatches), 3.25);
}

}  // namespace
}  // namespace trigram::test::dropcompute_test
