#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/training.h"

// Checks that no run hangs, however threads interleave. The watchdog would end a hanging run with
// an error.

namespace trigram::test::many_runs_slow_test {
namespace {

TEST(WaitAvoidingThreads, AHundredRunsEnd) {
  for (const Json& algorithm :
       {Json{{"name", "wagma"}, {"tau", 4}, {"group_size", 2}},
        Json{{"name", "wagma"}, {"tau", 1000}},
        Json{{"name", "wagma"}, {"tau", 5}, {"codec", "minmax_uint8"}},
        Json{{"name", "wagma"}, {"tau", 1000}, {"group_size", 2}, {"codec", "sign"}},
        Json{{"name", "eager_sgd"}, {"mode", "solo"}, {"sync_every", 0}},
        Json{{"name", "eager_sgd"}, {"mode", "majority"}, {"sync_every", 4}}})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(testing::Message() << algorithm << seed);
      Training training;
      training.algorithm = algorithm;
      training.workload = {{"name", "quadratic"}, {"dimension", 8}};
      training.cluster = small_cluster(seed % 2 == 0 ? 8 : 4);
      training.cluster.stragglers = {.count = 2, .delay_s = 1e-4};
      training.world = "threads";
      training.steps = 23;
      training.seed = seed;
      const Trained trained = train(training);
      ASSERT_EQ(trained.weights.size(), static_cast<std::size_t>(training.cluster.ranks()));
      for (const auto& weights : trained.weights)
        for (const float w : weights) ASSERT_LT(std::abs(w), 1e3f);
    }
}

}  // namespace
}  // namespace trigram::test::many_runs_slow_test
