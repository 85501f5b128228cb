#include "experiments/advise/network_scale.h"

#include <gmock/gmock.h>

#include "netmodels/cluster.h"

namespace trigram::network_scale_test {
namespace {

Json described(const Json& changes = Json::object()) {
  Json j = {{"nodes", 4}, {"inter", {{"bandwidth", "10Gbps"}, {"latency", "50us"}}}};
  j.merge_patch(changes);
  return cluster_fields().dump(parse_cluster(j, "/cluster"));
}

const Json kWan = {{"topology",
                    {{"kind", "wan"},
                     {"delay_is", "one_way"},
                     {"regions", {{{"name", "A"}, {"nodes", 1}}, {{"name", "B"}, {"nodes", 3}}}},
                     {"delay", {{nullptr, "30ms"}, {"40ms", nullptr}}},
                     {"bandwidth", {{nullptr, "0.5Gbps"}, {"1Gbps", nullptr}}}}}};

/// Expects that the text represents `value` base units.
void expect_value(const Json& text, double value, Dimension dimension) {
  EXPECT_DOUBLE_EQ(parse_quantity(text.get<std::string>(), dimension), value);
}

TEST(NetworkScale, ScalesNics) {
  const NetworkScale bandwidth(described(), Dimension::bandwidth);
  ASSERT_EQ(bandwidth.settings(0.079).size(), 1);
  expect_value(bandwidth.settings(0.079).at("/cluster/inter/bandwidth"), 0.79e9 / 8,
               Dimension::bandwidth);
  EXPECT_EQ(bandwidth.text(0.0791), "791 Mbps");
  const NetworkScale latency(described(), Dimension::duration);
  ASSERT_EQ(latency.settings(3).size(), 1);
  expect_value(latency.settings(3).at("/cluster/inter/latency"), 150e-6, Dimension::duration);
  EXPECT_EQ(latency.text(30), "1.5 ms");
  EXPECT_FALSE(latency.all_zero());
}

TEST(NetworkScale, ScalesAccessLinksButNoNames) {
  Json changes = kWan;
  changes["topology"]["regions"][0] = {{"name", "1Gbps"}, {"nodes", 1}, {"up", "110Mbps"}};
  const Json settings = NetworkScale(described(changes), Dimension::bandwidth).settings(2);
  const Json& region = settings.at("/cluster/topology/regions").at(0);
  EXPECT_EQ(region.at("name"), "1Gbps");
  EXPECT_EQ(region.at("nodes"), 1);
  expect_value(region.at("up"), 220e6 / 8, Dimension::bandwidth);
}

TEST(NetworkScale, FactorOneKeepsTheDescription) {
  for (const Json& changes : {Json::object(), kWan})
    for (const Dimension dimension : {Dimension::bandwidth, Dimension::duration}) {
      Json config;
      config["cluster"] = described(changes);
      const Json settings = NetworkScale(config["cluster"], dimension).settings(1);
      for (const auto& [pointer, value] : settings.items())
        EXPECT_EQ(config.at(Json::json_pointer(pointer)), value);
    }
}

TEST(NetworkScale, ScalesTokenBuckets) {
  const Json shaped = {{"inter", {{"shaping", {{"rate", "1Gbps"}, {"depth", "1MB"}}}}}};
  const NetworkScale bandwidth(described(shaped), Dimension::bandwidth);
  EXPECT_EQ(bandwidth.settings(2).size(), 2);
  expect_value(bandwidth.settings(2).at("/cluster/inter/shaping/rate"), 2e9 / 8,
               Dimension::bandwidth);
  EXPECT_EQ(bandwidth.text(2), "2 Gbps") << "the long-run rate, not the rate of bursts";
}

TEST(NetworkScale, ScalesTopologies) {
  const NetworkScale bandwidth(described(kWan), Dimension::bandwidth);
  ASSERT_EQ(bandwidth.settings(0.1).size(), 2);
  const Json matrix = bandwidth.settings(0.1).at("/cluster/topology/bandwidth");
  EXPECT_TRUE(matrix[0][0].is_null());
  expect_value(matrix[0][1], 0.05e9 / 8, Dimension::bandwidth);
  expect_value(matrix[1][0], 0.1e9 / 8, Dimension::bandwidth);
  EXPECT_EQ(bandwidth.text(0.1), "1 Gbps at NICs, 50 Mbps to 100 Mbps beyond");
  const NetworkScale latency(described(kWan), Dimension::duration);
  expect_value(latency.settings(2).at("/cluster/topology/delay")[1][0], 80e-3, Dimension::duration);
  // In this topology, links have the NICs' bandwidth unless they have their own.
  const Json torus = {{"topology", {{"kind", "torus"}, {"dimensions", {4}}}}};
  EXPECT_EQ(NetworkScale(described(torus), Dimension::bandwidth).settings(2).size(), 1);
  const Json narrow = {
      {"topology", {{"kind", "torus"}, {"dimensions", {4}}, {"bandwidth", "1Gbps"}}}};
  const Json half = NetworkScale(described(narrow), Dimension::bandwidth).settings(0.5);
  expect_value(half.at("/cluster/topology/bandwidth"), 0.5e9 / 8, Dimension::bandwidth);
}

TEST(NetworkScale, SetsLatenciesThatAreZero) {
  const Json none = {{"inter", {{"latency", "0us"}}}};
  const NetworkScale latency(described(none), Dimension::duration);
  EXPECT_TRUE(latency.all_zero());
  expect_value(latency.settings(0).at("/cluster/inter/latency"), 0, Dimension::duration);
  expect_value(latency.settings(16).at("/cluster/inter/latency"), 16e-6, Dimension::duration);
  EXPECT_EQ(latency.text(16), "16 us");
}

TEST(NetworkScale, ScalesTheFabricOfASingleNode) {
  const Json alone = {{"nodes", 1},
                      {"workers_per_node", 4},
                      {"intra",
                       {{"bandwidth", "16GB/s"},
                        {"latency", "5us"},
                        {"kind", "pcie"},
                        {"bridge_bandwidth", "20GB/s"}}}};
  const Json half = NetworkScale(described(alone), Dimension::bandwidth).settings(0.5);
  ASSERT_EQ(half.size(), 2);
  expect_value(half.at("/cluster/intra/bandwidth"), 8e9, Dimension::bandwidth);
  expect_value(half.at("/cluster/intra/bridge_bandwidth"), 10e9, Dimension::bandwidth);
  const Json twice = NetworkScale(described(alone), Dimension::duration).settings(2);
  ASSERT_EQ(twice.size(), 1);
  expect_value(twice.at("/cluster/intra/latency"), 10e-6, Dimension::duration);
}

TEST(NetworkScale, WritesBandwidthsInBits) {
  const NetworkScale bandwidth(described(), Dimension::bandwidth);
  EXPECT_EQ(bandwidth.settings(1.0 / 64).at("/cluster/inter/bandwidth"), "156.25Mbps");
  EXPECT_EQ(bandwidth.settings(1.6).at("/cluster/inter/bandwidth"), "16Gbps");
  EXPECT_EQ(bandwidth.settings(1.0 / 3).at("/cluster/inter/bandwidth"), "3.33333Gbps");
}

TEST(NetworkScale, RoundsReadableQuantities) {
  EXPECT_EQ(readable(12.5e9, Dimension::bandwidth), "100 Gbps");
  EXPECT_EQ(readable(0.999999999e9 / 8, Dimension::bandwidth), "1 Gbps");
  EXPECT_EQ(readable(1.6e12 / 8, Dimension::bandwidth), "1.6 Tbps");
  EXPECT_EQ(readable(7.8125e-7, Dimension::duration), "781 ns");
  EXPECT_EQ(readable(0, Dimension::duration), "0 ns");
}

}  // namespace
}  // namespace trigram::network_scale_test
