#include "experiments/cli/world_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trigram::world_comparison_test {
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
  EXPECT_THAT(text, Not(HasSubstr("order")));  // there are no two algorithms to compare
}

TEST(WorldComparison, ShowsTheMedianAndTheLargestError) {
  const std::string three = world_comparison(
      {pair("a", "1Gbps", 1, 1.02), pair("b", "1Gbps", 1, 0.7), pair("c", "1Gbps", 1, 1.1)});
  EXPECT_THAT(three, HasSubstr("median error 10.0 %, greatest -30.0 % (algorithm=b"));
  const std::string two =
      world_comparison({pair("a", "1Gbps", 1, 1.02), pair("b", "1Gbps", 1, 0.9)});
  EXPECT_THAT(two, HasSubstr("median error 6.0 %, greatest -10.0 %"));
}

TEST(WorldComparison, ComparesTheOrderOfAlgorithmsAtEqualSettings) {
  const std::string text = world_comparison({
      pair("a", "1Gbps", 1, 1), pair("b", "1Gbps", 1.05, 0.9),  // a and b are too close to count
      pair("c", "1Gbps", 2, 0.95),                              // c is before a, and after b
      pair("a", "9Gbps", 5, 5),                                 // this is another setting
  });
  EXPECT_THAT(text, HasSubstr("order: 1 of 2 pairs that differ by more than 10 % agree"));
  EXPECT_THAT(text, HasSubstr("swapped: algorithm=a, cluster/bandwidth=1Gbps and algorithm=c"));
}

TEST(WorldComparison, AnExperimentHasTheSameKeyInAllWorlds) {
  EXPECT_EQ(experiment_key(manifest("sim", "a", "1Gbps", 1)),
            experiment_key(manifest("threads", "a", "1Gbps", 2)));
  EXPECT_NE(experiment_key(manifest("sim", "a", "1Gbps", 1)),
            experiment_key(manifest("sim", "a", "9Gbps", 1)));
}

Json with_option(Json m, const char* option, const Json& value, bool swept) {
  m["experiment"]["runtime"][option] = value;
  if (swept) m["sweep"][std::string("/runtime/") + option] = value;
  return m;
}

TEST(WorldComparison, VariantsOfWorldOptionsHaveTheirOwnRows) {
  const Json sim = manifest("sim", "a", "1Gbps", 0.1),
             threads = manifest("threads", "a", "1Gbps", 0.2);
  const auto pairs =
      pair_up({with_option(sim, "fidelity", "message", true),
               with_option(sim, "fidelity", "fluid", true), manifest("sim", "b", "1Gbps", 0.3)},
              {threads, manifest("threads", "a", "9Gbps", 1)});
  ASSERT_EQ(pairs.size(), 2u);
  const std::string text = world_comparison(pairs);
  EXPECT_THAT(text, HasSubstr("sim: fidelity"));
  EXPECT_THAT(text, HasSubstr("1Gbps      message"));
  EXPECT_THAT(text, HasSubstr("1Gbps      fluid"));
  EXPECT_THAT(text, Not(HasSubstr("order")));  // there is only one algorithm
  EXPECT_THAT(world_comparison({pairs[0]}), Not(HasSubstr("fidelity")));
}

TEST(WorldComparison, OptionsThatBothSweepsSetAreEqualInAPair) {
  std::vector<Json> predicted, measured;
  for (const char* watchdog : {"10s", "20s"}) {
    predicted.push_back(
        with_option(manifest("threads", "a", "1Gbps", 1), "watchdog", watchdog, true));
    measured.push_back(with_option(manifest("mpi", "a", "1Gbps", 1), "watchdog", watchdog, true));
  }
  const auto pairs = pair_up(predicted, measured);
  ASSERT_EQ(pairs.size(), 2u);
  for (const WorldPair& p : pairs) EXPECT_EQ(p.predicted["sweep"], p.measured["sweep"]);
  measured.pop_back();
  measured[0]["sweep"].erase("/runtime/watchdog");  // it was not swept in that world
  EXPECT_EQ(pair_up(predicted, measured).size(), 2u);
}

TEST(WorldComparison, OrdersAreComparedWithinOneVariant) {
  const auto variant = [](const char* algorithm, double predicted_s, const char* fidelity) {
    WorldPair p = pair(algorithm, "1Gbps", predicted_s, 1);
    p.predicted = with_option(p.predicted, "fidelity", fidelity, true);
    return p;
  };
  const std::string text = world_comparison({variant("a", 1, "fluid"), variant("a", 2, "message"),
                                             variant("b", 3, "fluid"), variant("b", 4, "message")});
  EXPECT_THAT(text, HasSubstr("of 2 pairs"));
}

TEST(WorldComparison, ASettingOfOnlySomeRowsHasAColumn) {
  WorldPair other = pair("a", "1Gbps", 1, 1);
  other.predicted["sweep"]["/steps"] = 7;
  EXPECT_THAT(world_comparison({pair("b", "1Gbps", 1, 1), other}), HasSubstr("bandwidth  steps"));
}

TEST(WorldComparison, CountsRunsWithDeviatingLinks) {
  WorldPair off = pair("a", "1Gbps", 1, 1);
  off.measured["links"] = Json::array({{{"warning", false}}, {{"warning", true}}});
  WorldPair fine = pair("b", "1Gbps", 1, 1);
  fine.measured["links"] = Json::array({{{"warning", false}}});
  EXPECT_THAT(world_comparison({off, fine}), HasSubstr("links: 1 of 2 runs"));
  EXPECT_THAT(world_comparison({fine}), Not(HasSubstr("links:")));
}

TEST(WorldComparison, AStepThatTakesNoTimeHasNoError) {
  EXPECT_THAT(world_comparison({pair("a", "1Gbps", 0, 1)}), Not(HasSubstr("median")));
}

}  // namespace
}  // namespace trigram::world_comparison_test
