#include "experiments/run/pace_trend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trigram::test::pace_trend_test {
namespace {

Json trend_of(const std::vector<double>& steps_s) {
  PaceTrend trend;
  for (const double step_s : steps_s) trend.add(step_s);
  return trend.to_json();
}

TEST(PaceTrend, IsNullForEqualPeriodicOrFewSteps) {
  EXPECT_EQ(trend_of(std::vector<double>(100, 2.0)), nullptr);
  std::vector<double> periodic, growing;
  for (int i = 0; i < 90; ++i) periodic.push_back(i % 3 == 0 ? 0.3 : 0.7);
  EXPECT_EQ(trend_of(periodic), nullptr);
  for (int i = 0; i < 9; ++i) growing.push_back(i + 1);
  EXPECT_EQ(trend_of(growing), nullptr);
  growing.push_back(10);
  EXPECT_NE(trend_of(growing), nullptr);
}

TEST(PaceTrend, HasTheMeansOfTheHalves) {
  std::vector<double> steps_s(20, 1.0);
  steps_s.insert(steps_s.end(), 20, 2.0);
  EXPECT_EQ(trend_of(steps_s), (Json{{"first_half_step_s", 1.0}, {"second_half_step_s", 2.0}}));
  std::ranges::reverse(steps_s);
  EXPECT_EQ(trend_of(steps_s), (Json{{"first_half_step_s", 2.0}, {"second_half_step_s", 1.0}}));
}

TEST(PaceTrend, IsNullIfFewStepsOrSmallChangesMakeTheDifference) {
  std::vector<double> started(40, 1.0), late(40, 1.0), slightly(40, 1.0);
  started[0] = 5;
  EXPECT_EQ(trend_of(started), nullptr);
  late[30] = 5;
  EXPECT_EQ(trend_of(late), nullptr);
  for (std::size_t i = 20; i < 40; ++i) slightly[i] = 1.04;
  EXPECT_EQ(trend_of(slightly), nullptr);
}

/// Long runs are kept as blocks of many cycles.
TEST(PaceTrend, OfALongRunComparesItsHalves) {
  std::vector<double> steps_s(5000, 1.0);
  for (std::size_t i = 2500; i < 5000; ++i) steps_s[i] = 1.5;
  const Json trend = trend_of(steps_s);
  ASSERT_TRUE(trend.is_object());
  EXPECT_NEAR(trend["first_half_step_s"], 1.0, 0.05);
  EXPECT_NEAR(trend["second_half_step_s"], 1.5, 0.05);
}

}  // namespace
}  // namespace trigram::test::pace_trend_test
