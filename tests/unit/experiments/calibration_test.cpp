#include <gtest/gtest.h>

#include <vector>

#include "experiments/calibrate/calibration.h"
#include "experiments/calibrate/line_fit.h"
#include "experiments/calibrate/workload_probe.h"

namespace trigram {
namespace {

std::vector<Sample> samples_of(double overhead_s, double per_unit) {
  std::vector<Sample> samples;
  for (double size = 1000; size <= 1e7; size *= 10)
    samples.push_back({size, overhead_s + size * per_unit});
  return samples;
}

TEST(LineFit, FindsTheLineThatTheTimesLieOn) {
  const auto samples = samples_of(5e-6, 2e-10);
  const LineFit fit = fit_line(samples);
  EXPECT_NEAR(fit.overhead_s, 5e-6, 1e-12);
  EXPECT_NEAR(fit.seconds_per_unit, 2e-10, 1e-18);
  for (const Sample& s : samples) EXPECT_NEAR(fit.residual(s), 0, 1e-9);
}

TEST(LineFit, CountsShortAndLongTimesAlike) {
  auto samples = samples_of(5e-6, 2e-10);
  samples.back().seconds *= 1.1;  // of plain least squares this one alone would count
  const LineFit fit = fit_line(samples);
  EXPECT_NEAR(fit.residual(samples.front()), 0, 0.02);
  EXPECT_LT(fit.residual(samples.back()), 0);
}

TEST(LineFit, HasNoNegativeOverhead) {
  const std::vector<Sample> samples = {{1, 1}, {10, 20}};
  const LineFit fit = fit_line(samples);
  EXPECT_EQ(fit.overhead_s, 0);
  // The least squares of b - 1 and b / 2 - 1.
  EXPECT_NEAR(fit.seconds_per_unit, 1.5 / 1.25, 1e-12);
}

TEST(LineFit, RefusesWhatIsNoLine) {
  const auto fit = [](std::vector<Sample> samples) { return fit_line(samples); };
  EXPECT_THROW(fit({{1, 1}}), std::runtime_error);
  EXPECT_THROW(fit({{5, 1}, {5, 2}}), std::runtime_error);
  EXPECT_THROW(fit({{1, 0}, {2, 1}}), std::runtime_error);
  EXPECT_THROW(fit({{1, 2}, {100, 1}}), std::runtime_error);
}

TEST(FlopRate, MakesTheStepTakeAsLongAsItDid) {
  Accelerator accelerator;
  accelerator.flops_per_s = 3e9;
  accelerator.memory_Bps = 5e9;
  accelerator.launch_overhead_s = 1e-6;
  StepProbe step{0, {{1e6, 1e8}, {1e7, 10}, {10, 1e5}}};  // bound by arithmetic, memory, arithmetic
  for (const Cost& cost : step.costs) step.seconds += accelerator.seconds(cost);
  Accelerator other = accelerator;
  other.flops_per_s = 1;
  EXPECT_NEAR(flop_rate(step, other) / 3e9, 1, 1e-6);
  step.seconds = 1e-3;  // less than the traffic takes
  EXPECT_THROW(flop_rate(step, other), std::runtime_error);
}

TEST(RingSeconds, AddsUpStepsAndReductions) {
  Cluster cluster;
  cluster.nodes = 4;
  cluster.inter = {1e9, 1e-5};
  cluster.accelerator = {"", 1e15, 1e10, 1e-6};
  // Six steps of 1 MB, three reductions that pass three times over it.
  EXPECT_NEAR(ring_seconds(cluster, 4e6), 6 * (1e-5 + 1e-3) + 3 * (1e-6 + 3e-4), 1e-12);
}

}  // namespace
}  // namespace trigram
