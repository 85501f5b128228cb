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
  const Spending spent = spending(c, {.time_s = 1800});
  EXPECT_DOUBLE_EQ(*spent.usd, 4 * 24.5 / 2);
  EXPECT_EQ(egress_tariff(c).usd(0, 31, 1'000'000'000), 0);
  EXPECT_EQ(spent.kwh, std::nullopt) << "the power is unknown";
}

TEST(Prices, TrafficIsPaidByTheDecimalGigabyte) {
  const Cluster c = cluster_of(R"({"nodes": 2, "price_per_node_hour": 3,
      "inter": {"bandwidth": "1Gbps", "latency": "1ms", "egress_price_per_GB": 0.08}})");
  const double usd = egress_tariff(c).usd(0, 1, 250'000'000'000);
  EXPECT_DOUBLE_EQ(usd, 250 * 0.08);
  EXPECT_DOUBLE_EQ(*spending(c, {.time_s = 3600, .egress_usd = usd}).usd, 2 * 3 + 250 * 0.08);
}

/// Three regions, of which the second has two nodes.
std::string three_regions(const std::string& more, double price_of_inter = 0) {
  return R"({"nodes": 4, "inter": {"bandwidth": "1Gbps", "latency": "1ms",
      "egress_price_per_GB": )" +
         std::to_string(price_of_inter) + R"(}, "topology": {
      "kind": "wan", "delay_is": "one_way",
      "regions": [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 2}, {"name": "c", "nodes": 1}],
      "delay": [[null, "1ms", "1ms"], ["1ms", null, "1ms"], ["1ms", "1ms", null]],
      "bandwidth": [[null, "1Gbps", "1Gbps"], ["1Gbps", null, "1Gbps"],
                    ["1Gbps", "1Gbps", null]])" +
         more + "}}";
}

TEST(Prices, EachConnectionOfTwoRegionsMayHaveItsOwn) {
  const Cluster c = cluster_of(three_regions(
      R"(, "egress_price_per_GB": [[null, 0.01, 0.02], [0.09, null, null], [0, 0.12, null]])",
      0.05));
  const EgressTariff tariff = egress_tariff(c);
  const auto per_GB = [&](int from, int to) { return tariff.usd(from, to, 1'000'000'000); };
  EXPECT_DOUBLE_EQ(per_GB(0, 1), 0.01);
  EXPECT_DOUBLE_EQ(per_GB(0, 3), 0.02);
  EXPECT_DOUBLE_EQ(per_GB(2, 0), 0.09) << "the other direction";
  EXPECT_DOUBLE_EQ(per_GB(1, 3), 0.05) << "null: the price of inter";
  EXPECT_EQ(per_GB(3, 0), 0);
  EXPECT_EQ(per_GB(1, 2), 0) << "inside a region";
  EXPECT_EQ(egress_price_range(c), (std::pair{0.0, 0.12}));
  EXPECT_TRUE(has_prices(c));
  EXPECT_FALSE(has_prices(cluster_of(three_regions(""))));
}

TEST(Prices, OfConnectionsAreChecked) {
  const auto error = [](const std::string& prices, double price_of_inter = 0) {
    return error_of(three_regions(R"(, "egress_price_per_GB": )" + prices, price_of_inter));
  };
  EXPECT_THAT(error("[[null, 1, 1], [1, null, 1]]"),
              HasSubstr("/cluster/topology/egress_price_per_GB: expected a square matrix"));
  EXPECT_THAT(error("[[0, 1, 1], [1, null, 1], [1, 1, null]]"),
              HasSubstr("/cluster/topology/egress_price_per_GB/0/0: expected null"));
  EXPECT_THAT(error("[[null, -1, 1], [1, null, 1], [1, 1, null]]"),
              HasSubstr("/cluster/topology/egress_price_per_GB/0/1"));
  EXPECT_THAT(error("[[null, 1, 1], [1, null, 1], [1, 1, null]]", 0.05),
              HasSubstr("/cluster/inter/egress_price_per_GB: has no effect"));
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
  EXPECT_EQ(egress_tariff(cluster_of(R"({"nodes": 2, "workers_per_node": 2})")).zones,
            (std::vector{0, 0, 1, 1}));
  EXPECT_EQ(egress_tariff(cluster_of(R"({"nodes": 3, "workers_per_node": 2, "topology": {
      "kind": "wan", "delay_is": "one_way",
      "regions": [{"name": "a", "nodes": 2}, {"name": "b", "nodes": 1}],
      "delay": [[null, "1ms"], ["1ms", null]],
      "bandwidth": [[null, "1Gbps"], ["1Gbps", null]]}})"))
                .zones,
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
