#include "experiments/results/reached.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

namespace trigram {
namespace {

std::string to_a_digit(double value) { return fmt::format("{:.1f}", value); }

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
  EXPECT_EQ((Reached{47.11, 51.42}.text(to_a_digit)), "47.1–51.4");
  EXPECT_EQ((Reached{0, 14.7}.text(to_a_digit)), "≤14.7 ~");
  EXPECT_EQ((Reached{3, 4}.text(to_a_digit)), "3.0–4.0 ~");
  EXPECT_EQ((Reached{47.11, 47.12}.text(to_a_digit)), "47.1");
}

}  // namespace
}  // namespace trigram
