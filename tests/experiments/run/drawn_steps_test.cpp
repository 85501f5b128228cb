#include "experiments/run/drawn_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "netmodels/part_of_cluster.h"

namespace trigram::drawn_steps_test {
namespace {

Experiment drawn(const std::string& algorithm = "gradient_allreduce") {
  Experiment e;
  e.runtime = "sim";
  e.algorithm = {{"name", algorithm}};
  e.cluster.nodes = 4;
  e.cluster.run_times.kind = RunTimes::Shape::lognormal;
  return e;
}

StepRecord step(long number, double seconds) {
  StepRecord record;
  record.step = number;
  record.step_s = seconds;
  return record;
}

/// Ten batches of two steps have the means 1 to 10, whose standard deviation is sqrt(55/6).
TEST(DrawnSteps, StandardErrorComesFromTheMeansOfTenBatches) {
  DrawnSteps steps(drawn());
  for (long i = 0; i < 20; ++i)
    steps.add(step(i, 1 + static_cast<double>(i / 2) + (i % 2 == 0 ? -0.5 : 0.5)));
  EXPECT_NEAR(steps.standard_error_s(), std::sqrt(55.0 / 6 / 10), 1e-12);
  EXPECT_NE(steps.warning(5.5).find("with a standard error above 10 %"), std::string::npos)
      << steps.warning(5.5);
  EXPECT_EQ(steps.warning(100), "") << "below a tie";
}

TEST(DrawnSteps, HaveAnUnknownErrorAfterOneStep) {
  DrawnSteps steps(drawn());
  steps.add(step(0, 1));
  EXPECT_TRUE(std::isinf(steps.standard_error_s()));
  EXPECT_NE(steps.warning(1).find("too few to tell"), std::string::npos);
}

TEST(DrawnSteps, HaveNoWarningIfNothingIsDrawn) {
  Experiment e = drawn();
  e.cluster.run_times.kind = RunTimes::Shape::constant;
  DrawnSteps steps(e);
  steps.add(step(0, 1));
  steps.add(step(1, 2));
  EXPECT_EQ(steps.warning(1.5), "");
}

/// A job has some of the nodes among which stragglers are drawn.
TEST(DrawnSteps, StragglersOfAJobAreDrawnUnlessAllWorkersOfTheClusterAreLate) {
  for (const int count : {3, 4, 7, 8}) {
    Cluster cluster;
    cluster.nodes = 8;
    cluster.stragglers = {.count = count, .delay_s = 1};
    const Cluster part = part_of(std::make_shared<const Cluster>(cluster), {1, 3, 5, 7});
    EXPECT_EQ(drawn_at_random(part).empty(), count == 8) << count;
  }
}

}  // namespace
}  // namespace trigram::drawn_steps_test
