// DeDLOC: gradients weighted by the samples of each worker, computed by hand.

#include <gtest/gtest.h>

#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::dedloc_test {
namespace {

using namespace centralised;

class DedlocRule : public AffineTest {
 protected:
  /// Workers whose mini-batches have one sample and take 150 ms.
  static AffineTraining workers(int ranks, const Json& algorithm, long steps) {
    AffineTraining run = training(ranks, algorithm, steps, kSlope);
    run.compute_s = 0.05;
    return run;
  }
};

/// The last worker is late by 250 ms in every step. It has begun one mini-batch when the other
/// workers have begun two, and all together seven. Samples are those of the priced model.
TEST_P(DedlocRule, WeightsGradientsByTheSamplesOfTheirWorkers) {
  constexpr int kRanks = 4, kSteps = 3;
  double x = 1;
  for (int t = 0; t < kSteps; ++t) {
    double sum = 0;
    for (std::size_t r = 0; r < kRanks; ++r) sum += (r == kRanks - 1 ? 1 : 2) * gradient(x, r);
    x -= kLr * sum / 7;
  }
  for (const int samples : {1, 3}) {
    SCOPED_TRACE(testing::Message() << samples << " samples per mini-batch");
    AffineTraining run =
        workers(kRanks, {{"name", "dedloc"}, {"target_batch", 7 * samples}}, kSteps);
    run.priced_samples = static_cast<std::size_t>(samples);
    run.delay = [](int rank, long) { return rank == kRanks - 1 ? 0.25 : 0; };
    expect_near(common_weights(train(run)), std::vector<double>(kRanks, x));
  }
}

/// With equal speeds, four workers make three mini-batches each for a target of 12. So do the
/// workers of DropCompute, without a threshold.
TEST_P(DedlocRule, AccumulatesGradientsIfWorkersAreEqual) {
  const auto weights = [](const Json& algorithm) {
    AffineTraining run = workers(4, algorithm, 2);
    run.tilt = 0.3;
    return weights_of(train(run));
  };
  EXPECT_EQ(weights({{"name", "dedloc"}, {"target_batch", 12}}),
            weights({{"name", "dropcompute"}, {"micro_batches", 3}, {"profile_steps", 0}}));
}

TEST_P(DedlocRule, AppliesAveragesAStepLaterIfDelayed) {
  const auto path = [](const Json& algorithm) {
    AffineTraining run = training(4, algorithm, 5, kSlope);
    return paths(train(run));
  };
  EXPECT_EQ(path({{"name", "dedloc"}, {"target_batch", 1}, {"delay", 1}}),
            path({{"name", "delayed_allreduce"}, {"delay", 1}}));
}

INSTANTIATE_TEST_SUITE_P(Worlds, DedlocRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::dedloc_test
