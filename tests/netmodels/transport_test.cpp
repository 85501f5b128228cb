// Descriptions of transports: parsing and checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/clusters.h"

namespace trigram::transport_test {
namespace {

using testing::HasSubstr;

TEST(Transport, IsChecked) {
  const auto error = [](const Json& transport) {
    return test::error_of(Json{{"nodes", 2}, {"transport", transport}}.dump());
  };
  EXPECT_THAT(error({{"goodput", 0}}), HasSubstr("/cluster/transport/goodput"));
  EXPECT_THAT(error({{"goodput", 1.5}}), HasSubstr("/cluster/transport/goodput"));
  EXPECT_THAT(error({{"node_cap", "0Gbps"}}), HasSubstr("/cluster/transport/node_cap"));
  EXPECT_THAT(error({{"streams", 0}}), HasSubstr("/cluster/transport/streams"));
  EXPECT_THAT(error({{"loss", 1}}), HasSubstr("/cluster/transport/loss"));
  EXPECT_THAT(error({{"efficiency", {{"server", 0}}}}),
              HasSubstr("/cluster/transport/efficiency/server"));
  EXPECT_THAT(error({{"efficiency", {{"all_to_al", 1}}}}), HasSubstr("\"all_to_all\""));
  EXPECT_THAT(error({{"window", 65536}}), HasSubstr("/cluster/transport/window"));
  EXPECT_THAT(error({{"message_overhead", 5}}), HasSubstr("/cluster/transport/message_overhead"));
  EXPECT_THAT(error({{"tcp", {{"window", "0B"}}}}), HasSubstr("/cluster/transport/tcp/window"));
  EXPECT_THAT(error({{"tcp", {{"windw", "1MiB"}}}}), HasSubstr("\"window\""));
  EXPECT_THAT(error({{"tcp", "lnux"}}), HasSubstr("\"linux\""));
  EXPECT_THAT(error({{"tcp", {{"slow_start", false}, {"initial_window", "10KiB"}}}}),
              HasSubstr("/cluster/transport/tcp/initial_window"));
  EXPECT_THAT(error({{"protocol", "rendezvous"}, {"slots", 8}}),
              HasSubstr("/cluster/transport/slots"));
  EXPECT_THAT(error({{"protocol", "rendezvous"}, {"buffer", "4MiB"}}),
              HasSubstr("/cluster/transport/buffer"));
  EXPECT_EQ(error(Json::object()), "no error");
}

TEST(Transport, SurvivesARoundTrip) {
  const Json described = {
      {"goodput", 0.9}, {"tcp", {{"window", "4MiB"}}}, {"stage_overhead", "20us"}};
  const Json dumped = transport_fields().dump(transport_fields().parse(described, ""));
  EXPECT_EQ(transport_fields().dump(transport_fields().parse(dumped, "")), dumped);
  EXPECT_FALSE(dumped.contains("node_cap"));
}

}  // namespace
}  // namespace trigram::transport_test
