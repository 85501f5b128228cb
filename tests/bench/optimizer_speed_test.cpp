// The speed of optimizers as a ratio to the speed of memory.

#include "tests/bench/optimizer_speed.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/support/vector_targets.h"

namespace trigram::test::optimizer_speed_test {
namespace {

constexpr double kRequired = 0.7;

TEST(OptimizerSpeed, ReachesTheSpeedOfMemcpyWithAvx2OrBetter) {
  for (const MeasuredOptimizer& measured : measured_optimizers()) {
    OptimizerSpeed speed(measured);
    constexpr int kRounds = 5, kMaxRounds = 60;
    for (int i = 0; i < kMaxRounds; ++i) {
      speed.measure();
      if (i >= kRounds && speed.ratio_to_memcpy() >= kRequired) break;
    }
    std::printf("%-18s %.2f x memcpy, %.2f x addition\n", measured.name.c_str(),
                speed.ratio_to_memcpy(), speed.ratio_to_addition());
    const bool vectors = (hwy::SupportedTargets() & (HWY_AVX2 | HWY_AVX3)) != 0;
    if (vectors) {
      EXPECT_GE(speed.ratio_to_memcpy(), kRequired) << measured.name;
    }
  }
}

}  // namespace
}  // namespace trigram::test::optimizer_speed_test
