// Prices of nodes and traffic, and the power of accelerators, against their closed forms.
#include "netmodels/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/clusters.h"

namespace trigram::prices_test {
namespace {

using test::cluster_of;
using test::error_of;
using testing::HasSubstr;

TEST(Prices, NodesArePaidByTheHour) {
  const Cluster c =
      cluster_of(R"({"nodes": 4, "workers_per_node": 8, "price_per_node_hour": 24.5})");
  const Spending spent = spending(c, {.time_s = 1800, .egress_bytes = 1e12});
  EXPECT_DOUBLE_EQ(*spent.usd, 4 * 24.5 / 2);
  EXPECT_EQ(spent.egress_usd, 0);
  EXPECT_EQ(spent.kwh, std::nullopt) << "the power is unknown";
}

TEST(Prices, TrafficIsPaidByTheDecimalGigabyte) {
  const Cluster c = cluster_of(R"({"nodes": 2, "price_per_node_hour": 3,
      "inter": {"bandwidth": "1Gbps", "latency": "1ms", "egress_price_per_GB": 0.08}})");
  const Spending spent = spending(c, {.time_s = 3600, .egress_bytes = 250e9});
  EXPECT_DOUBLE_EQ(spent.egress_usd, 250 * 0.08);
  EXPECT_DOUBLE_EQ(*spent.usd, 2 * 3 + 250 * 0.08);
}

TEST(Prices, PowerLiesBetweenIdleAndBusy) {
  const Cluster c = cluster_of(
      R"({"nodes": 2, "workers_per_node": 3, "accelerator": {"idle_watts": 50, "busy_watts": 300}})");
  const auto kwh = [&](double busy_share) {
    return *spending(c, {.time_s = 7200, .busy_share = busy_share}).kwh;
  };
  EXPECT_DOUBLE_EQ(kwh(0), 6 * 2 * 0.050);
  EXPECT_DOUBLE_EQ(kwh(1), 6 * 2 * 0.300);
  EXPECT_DOUBLE_EQ(kwh(0.25), 6 * 2 * (0.050 + 0.25 * 0.250));
  EXPECT_EQ(spending(c, {.time_s = 1}).usd, std::nullopt) << "there are no prices";
}

TEST(Prices, ZonesAreNodesOrRegions) {
  EXPECT_EQ(egress_zones(cluster_of(R"({"nodes": 2, "workers_per_node": 2})")),
            (std::vector{0, 0, 1, 1}));
  EXPECT_EQ(egress_zones(cluster_of(R"({"nodes": 3, "workers_per_node": 2, "topology": {
      "kind": "wan", "delay_is": "one_way",
      "regions": [{"name": "a", "nodes": 2}, {"name": "b", "nodes": 1}],
      "delay": [[null, "1ms"], ["1ms", null]],
      "bandwidth": [[null, "1Gbps"], ["1Gbps", null]]}})")),
            (std::vector{0, 0, 0, 0, 1, 1}));
}

TEST(Prices, AreCheckedAndDumpedOnlyIfGiven) {
  EXPECT_THAT(error_of(R"({"price_per_node_hour": -1})"),
              HasSubstr("/cluster/price_per_node_hour"));
  EXPECT_THAT(error_of(R"({"accelerator": {"busy_watts": 300}})"),
              HasSubstr("/cluster/accelerator/busy_watts: has no effect alone"));
  EXPECT_THAT(error_of(R"({"accelerator": {"idle_watts": 60, "busy_watts": 50}})"),
              HasSubstr("/cluster/accelerator/busy_watts: expected at least idle_watts"));
  EXPECT_FALSE(cluster_fields().dump(cluster_of("{}")).contains("price_per_node_hour"));
  const Json dumped = cluster_fields().dump(cluster_of(R"({"price_per_node_hour": 2.5,
      "accelerator": {"idle_watts": 0, "busy_watts": 70}})"));
  EXPECT_EQ(dumped.at("price_per_node_hour"), 2.5);
  EXPECT_EQ(dumped.at("accelerator").at("idle_watts"), 0);
}

}  // namespace
}  // namespace trigram::prices_test
