#include "experiments/config/target_level.h"

#include <gtest/gtest.h>

#include <limits>

namespace trigram::target_level_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(TargetLevel, AnAccuracyIsReachedFromBelowAndALossFromAbove) {
  const TargetLevel accuracy{TargetLevel::Of::accuracy, 0.8}, loss{TargetLevel::Of::loss, 0.8};
  EXPECT_TRUE(accuracy.reached_by({9, 0.8}));
  EXPECT_FALSE(accuracy.reached_by({0.1, 0.7999}));
  EXPECT_TRUE(loss.reached_by({0.8, 0.1}));
  EXPECT_TRUE(loss.reached_by({0.1, std::nullopt}));
  EXPECT_FALSE(loss.reached_by({0.8001, 1}));
}

TEST(TargetLevel, WhatIsNoNumberReachesNothing) {
  const TargetLevel accuracy{TargetLevel::Of::accuracy, 0.8}, loss{TargetLevel::Of::loss, 0.8};
  EXPECT_FALSE(accuracy.reached_by({0.1, std::nullopt}));
  EXPECT_FALSE(accuracy.reached_by({0.1, kNaN}));
  for (const double bad : {kNaN, kInfinity, -kInfinity})
    EXPECT_FALSE(loss.reached_by({bad, 1})) << bad;
}

TEST(TargetLevel, IsFoundByItsName) {
  for (const std::string& name : TargetLevel::names()) {
    const auto target = TargetLevel::named(name, 0.5);
    ASSERT_TRUE(target) << name;
    EXPECT_EQ(target->name(), name);
    EXPECT_EQ(target->level, 0.5);
    EXPECT_EQ(target->option(), "target_" + name);
  }
  EXPECT_FALSE(TargetLevel::named("throughput", 0.5));
}

TEST(TargetLevel, OnlyAccuraciesEndAtOne) {
  const auto allowed = [](TargetLevel::Of of, double level) {
    return TargetLevel{of, level}.is_allowed();
  };
  for (const auto of : {TargetLevel::Of::accuracy, TargetLevel::Of::loss}) {
    EXPECT_TRUE(allowed(of, 1));
    for (const double bad : {0.0, -1.0, kInfinity, kNaN}) EXPECT_FALSE(allowed(of, bad)) << bad;
  }
  EXPECT_FALSE(allowed(TargetLevel::Of::accuracy, 1.5));
  EXPECT_TRUE(allowed(TargetLevel::Of::loss, 1.5));
}

TEST(TargetLevel, IsWrittenAsInTitles) {
  EXPECT_EQ((TargetLevel{TargetLevel::Of::accuracy, 0.855}.text()), "85.5 %");
  EXPECT_EQ((TargetLevel{TargetLevel::Of::loss, 2.6}.text()), "loss 2.6");
}

}  // namespace
}  // namespace trigram::target_level_test
