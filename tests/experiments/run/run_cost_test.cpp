#include "experiments/run/run_cost.h"

#include <gtest/gtest.h>

#include "netmodels/cluster.h"

namespace trigram::run_cost_test {
namespace {

/// 90 of 100 steps count, which take 2 s each; workers compute half of the time.
const Json kSummary = {{"step_s", 2.0},
                       {"time_s", 210.0},
                       {"samples_per_s", 500.0},
                       {"compute_utilisation", 0.5},
                       {"egress_usd", 0.1},
                       {"target", nullptr},
                       {"rates", {{"steps", 90}, {"steps_made", 90.0}, {"egress_usd", 0.09}}}};

Cluster priced() {
  Cluster cluster;
  cluster.nodes = 4;
  cluster.workers_per_node = 2;
  cluster.price_per_node_hour = 36;
  cluster.inter.egress_price_per_GB = 0.01;
  cluster.accelerator.idle_watts = 100;
  cluster.accelerator.busy_watts = 300;
  return cluster;
}

TEST(RunCost, IsNullWithoutPricesAndPower) { EXPECT_EQ(run_cost(Cluster{}, kSummary, 1), nullptr); }

TEST(RunCost, HasTheClosedForms) {
  const Json cost = run_cost(priced(), kSummary, 8);
  EXPECT_DOUBLE_EQ(cost["usd_per_step"], 4 * 36 * 2.0 / 3600 + 0.09 / 90);
  EXPECT_DOUBLE_EQ(cost["usd"], 4 * 36 * 210.0 / 3600 + 0.1);
  EXPECT_DOUBLE_EQ(cost["egress_usd"], 0.1);
  EXPECT_DOUBLE_EQ(cost["kwh_per_step"], 8 * 0.200 * 2 / 3600);
  EXPECT_DOUBLE_EQ(cost["kwh"], 8 * 0.200 * 210 / 3600);
  EXPECT_DOUBLE_EQ(cost["usd_per_million_samples"],
                   1e6 / (500 * 2.0) * cost["usd_per_step"].get<double>());
  EXPECT_EQ(cost["usd_to_target"], nullptr);
}

TEST(RunCost, CountsServersAsIdle) {
  const Json cost = run_cost(priced(), kSummary, 6);
  EXPECT_DOUBLE_EQ(cost["kwh_per_step"], (6 * 0.200 + 2 * 0.100) * 2 / 3600);
}

TEST(RunCost, EndsAtTheTarget) {
  Json summary = kSummary;
  summary["target"] = {{"accuracy", 0.8}, {"time_s", nullptr}};
  EXPECT_EQ(run_cost(priced(), summary, 8)["usd_to_target"], nullptr);
  summary["target"]["time_s"] = 210.0;
  const Json cost = run_cost(priced(), summary, 8);
  EXPECT_EQ(cost["usd_to_target"], cost["usd"]);
  EXPECT_EQ(cost["kwh_to_target"], cost["kwh"]);
}

TEST(RunCost, LeavesOutAnAmountThatIsUnknown) {
  Cluster cluster = priced();
  cluster.accelerator.idle_watts = cluster.accelerator.busy_watts = -1;
  const Json cost = run_cost(cluster, kSummary, 8);
  EXPECT_EQ(cost["kwh_per_step"], nullptr);
  EXPECT_TRUE(cost["usd_per_step"].is_number());
}

}  // namespace
}  // namespace trigram::run_cost_test
