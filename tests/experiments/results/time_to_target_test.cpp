#include "experiments/results/time_to_target.h"

#include <gmock/gmock.h>

#include <limits>

namespace trigram::time_to_target_test {
namespace {

TEST(TimeToTarget, IsCoarseIfThereAreFewerThanFiveEvaluations) {
  EXPECT_TRUE((TimeToTarget{3, 4}.is_coarse()));
  EXPECT_FALSE((TimeToTarget{4, 5}.is_coarse()));
  EXPECT_FALSE((TimeToTarget{5, 5}.is_coarse()));
  const double never = std::numeric_limits<double>::infinity();
  EXPECT_FALSE((TimeToTarget{never, never}.is_coarse()));
}

TEST(TimeToTarget, MayPrecedeIfIntervalsOverlap) {
  const TimeToTarget best{47.1, 51.4};
  EXPECT_TRUE((TimeToTarget{51.2, 55.5}.may_precede(best)));
  EXPECT_FALSE((TimeToTarget{52.0, 55.5}.may_precede(best)));
  EXPECT_TRUE((TimeToTarget{51.4, 51.9}.may_precede(best))) << "within a tie";
  EXPECT_TRUE((TimeToTarget{0, 400}.may_precede(best)));
}

TEST(TimeToTarget, ExactTimesTieWithinOnePercent) {
  EXPECT_TRUE((TimeToTarget{1.009, 1.009}.may_precede({1, 1})));
  EXPECT_FALSE((TimeToTarget{1.011, 1.011}.may_precede({1, 1})));
}

TEST(TimeToTarget, IsWrittenAsAnInterval) {
  EXPECT_EQ((TimeToTarget{47.11, 51.42}.text()), "47.1–51.4");
  EXPECT_EQ((TimeToTarget{0, 14.7}.text()), "≤14.7 ~");
  EXPECT_EQ((TimeToTarget{3, 4}.text()), "3.00–4.00 ~");
  EXPECT_EQ((TimeToTarget{47.11, 47.12}.text()), "47.1");
  EXPECT_EQ((TimeToTarget{0.00123, 0.0014}.text()), "0.00123–0.00140");
  EXPECT_EQ((TimeToTarget{1230, 1234}.text()), "1230–1234");
}

}  // namespace
}  // namespace trigram::time_to_target_test
