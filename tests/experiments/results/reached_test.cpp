#include "experiments/results/reached.h"

#include <gmock/gmock.h>

#include <limits>

namespace trigram::reached_test {
namespace {

TEST(Reached, IsCoarseWhereFewerThanFiveEvaluationsTell) {
  EXPECT_TRUE((Reached{3, 4}.coarse()));
  EXPECT_FALSE((Reached{4, 5}.coarse()));
  EXPECT_FALSE((Reached{5, 5}.coarse()));
  const double never = std::numeric_limits<double>::infinity();
  EXPECT_FALSE((Reached{never, never}.coarse()));
}

TEST(Reached, MayPrecedeWhereIntervalsOverlap) {
  const Reached best{47.1, 51.4};
  EXPECT_TRUE((Reached{51.2, 55.5}.may_precede(best)));
  EXPECT_FALSE((Reached{52.0, 55.5}.may_precede(best)));
  EXPECT_TRUE((Reached{51.4, 51.9}.may_precede(best))) << "within a tie";
  EXPECT_TRUE((Reached{0, 400}.may_precede(best)));
}

TEST(Reached, ValuesThatAreKnownTieWithinAPerCent) {
  EXPECT_TRUE((Reached{1.009, 1.009}.may_precede({1, 1})));
  EXPECT_FALSE((Reached{1.011, 1.011}.may_precede({1, 1})));
}

TEST(Reached, IsWrittenAsAnInterval) {
  EXPECT_EQ((Reached{47.11, 51.42}.text()), "47.1–51.4");
  EXPECT_EQ((Reached{0, 14.7}.text()), "≤14.7 ~");
  EXPECT_EQ((Reached{3, 4}.text()), "3.00–4.00 ~");
  EXPECT_EQ((Reached{47.11, 47.12}.text()), "47.1");
  EXPECT_EQ((Reached{0.00123, 0.0014}.text()), "0.00123–0.00140");
  EXPECT_EQ((Reached{1230, 1234}.text()), "1230–1234");
}

}  // namespace
}  // namespace trigram::reached_test
