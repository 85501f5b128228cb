#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/training.h"

// The micro-benchmark of eager-SGD (arXiv 1908.04207), run with the algorithm itself: in every
// step, the gradients of 32 workers are ready 1, 2, ... 32 ms after a common start. An average of
// the models after every step makes all workers start together.

namespace trigram::test::eager_skew_test {
namespace {

constexpr int kRanks = 32;
constexpr long kSteps = 400;

Trained skewed(Json algorithm) {
  Training training;
  training.algorithm = std::move(algorithm);
  training.workload = "profile:" TRIGRAM_TEST_DATA "/one_tensor_profile.csv";
  training.cluster.nodes = kRanks;
  training.cluster.inter = {100e9, 0.2e-6};
  training.cluster.accelerator.launch_overhead_s = 0;
  for (int rank = 0; rank < kRanks; ++rank)
    training.cluster.slow_workers.push_back({rank, rank + 1.0});
  training.steps = kSteps;
  training.events = true;
  return train(training);
}

struct Outcome {
  double active, wait_s;  // means: ranks in time per sum; seconds of waiting per rank and step
};

/// Reads the trace. A version consists of five exchanges of the agent, and even versions are the
/// sums. A wait belongs to the version that runs next.
Outcome outcome(const Trained& trained) {
  Outcome mean{};
  for (const auto& events : trained.events) {
    std::vector<double> exchanged_s;
    for (const Event& e : events)
      if (e.kind == Event::transfer) exchanged_s.push_back(e.end_s);
    EXPECT_EQ(exchanged_s.size(), 5 * 2u * kSteps);
    for (const Event& e : events) {
      if (e.kind != Event::wait) continue;
      const auto before = std::upper_bound(exchanged_s.begin(), exchanged_s.end(), e.begin_s);
      const auto version = (before - exchanged_s.begin()) / 5;
      if (version % 2 != 0) continue;
      mean.active += 1.0 / kSteps;
      mean.wait_s += (e.end_s - e.begin_s) / (kSteps * kRanks);
    }
  }
  return mean;
}

Json eager(const char* mode) {
  return {{"name", "eager_sgd"},
          {"mode", mode},
          {"sync_every", 1},
          {"allreduce", "recursive_doubling"}};
}

TEST(EagerSkew, SoloSumsWithTheFirstWorkerAlone) {
  const Outcome solo = outcome(skewed(eager("solo")));
  EXPECT_NEAR(solo.active, 1, 1e-9);
  EXPECT_LT(solo.wait_s, 1e-5);  // the first worker waits for its own messages
}

/// The expected values are (P+1)/2 workers and (P^2-1)/(6P) ms; over 400 steps their standard
/// errors are 2.8 and 4.5 per cent.
TEST(EagerSkew, MajoritySumsWithHalfOfTheWorkers) {
  const Outcome majority = outcome(skewed(eager("majority")));
  EXPECT_NEAR(majority.active, 16.5, 0.06 * 16.5);
  EXPECT_NEAR(majority.wait_s, 5.33e-3, 0.1 * 5.33e-3);
}

/// Every worker waits for the last worker: (P-1)/2 ms on average.
TEST(EagerSkew, SynchronousSgdWaitsForTheLast) {
  const Json synchronous = {{"name", "gradient_allreduce"}, {"allreduce", "recursive_doubling"}};
  double wait_s = 0;
  for (const Counters& c : skewed(synchronous).counters) wait_s += c.exposed_s / (kRanks * kSteps);
  EXPECT_NEAR(wait_s, 15.5e-3, 0.002 * 15.5e-3);
}

}  // namespace
}  // namespace trigram::test::eager_skew_test
