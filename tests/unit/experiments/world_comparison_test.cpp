#include "experiments/cli/world_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trigram {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json manifest(const char* world, const char* algorithm, const char* bandwidth, double step_s) {
  return {{"world", world},
          {"experiment",
           {{"algorithm", {{"name", algorithm}}},
            {"cluster", bandwidth},
            {"runtime", {{"name", world}}},
            {"name", world}}},
          {"sweep", {{"/algorithm", {{"name", algorithm}}}, {"/cluster/bandwidth", bandwidth}}},
          {"summary",
           {{"step_s", step_s},
            {"exposed_s", step_s / 2},
            {"bytes_intra", 1e6},
            {"bytes_inter", 2e6}}}};
}

WorldPair pair(const char* algorithm, const char* bandwidth, double predicted_s,
               double measured_s) {
  return {manifest("sim", algorithm, bandwidth, predicted_s),
          manifest("threads", algorithm, bandwidth, measured_s)};
}

TEST(WorldComparison, ComparesTimesAndBytes) {
  const std::string text = world_comparison({pair("a", "1Gbps", 0.1, 0.15)});
  EXPECT_THAT(text, HasSubstr("step [ms]: sim  threads  ratio"));
  EXPECT_THAT(text, HasSubstr("100.00   150.00  1.500"));
  EXPECT_THAT(text, HasSubstr("50.00    75.00  1.500"));
  EXPECT_THAT(text, HasSubstr("3.00     3.00  1.000"));
  EXPECT_THAT(text, Not(HasSubstr("order")));  // there are no two to compare
}

TEST(WorldComparison, SaysTheMedianAndTheGreatestError) {
  const std::string three = world_comparison(
      {pair("a", "1Gbps", 1, 1.02), pair("b", "1Gbps", 1, 0.7), pair("c", "1Gbps", 1, 1.1)});
  EXPECT_THAT(three, HasSubstr("median error 10.0 %, greatest -30.0 % (algorithm=b"));
  const std::string two =
      world_comparison({pair("a", "1Gbps", 1, 1.02), pair("b", "1Gbps", 1, 0.9)});
  EXPECT_THAT(two, HasSubstr("median error 6.0 %, greatest -10.0 %"));
}

TEST(WorldComparison, ComparesTheOrderOfThoseThatDifferAtOneSetting) {
  const std::string text = world_comparison({
      pair("a", "1Gbps", 1, 1), pair("b", "1Gbps", 1.05, 0.9),  // a and b: too near to count
      pair("c", "1Gbps", 2, 0.95),                              // before a, after b
      pair("a", "9Gbps", 5, 5),                                 // another setting
  });
  EXPECT_THAT(text, HasSubstr("order: 1 of 2 pairs that differ by more than 10 % agree"));
  EXPECT_THAT(text, HasSubstr("swapped: algorithm=a, cluster/bandwidth=1Gbps and algorithm=c"));
}

TEST(WorldComparison, AnExperimentIsTheSameInAnyWorld) {
  EXPECT_EQ(experiment_key(manifest("sim", "a", "1Gbps", 1)),
            experiment_key(manifest("threads", "a", "1Gbps", 2)));
  EXPECT_NE(experiment_key(manifest("sim", "a", "1Gbps", 1)),
            experiment_key(manifest("sim", "a", "9Gbps", 1)));
}

}  // namespace
}  // namespace trigram
