#include "core/metering/arrived_traffic.h"

#include <gtest/gtest.h>

namespace trigram {
namespace {

using Messages = ArrivedTraffic::Messages;

TEST(ArrivedTraffic, CountsWhatIsSentInACollectiveWhenTheReceiverEndsIt) {
  ArrivedTraffic traffic(2);
  traffic.add({.from = 1, .to = 0, .count = {.intra = true, .messages = 1, .bytes = 5}});
  const Messages forth{.from = 0, .to = 1, .count = {.intra = false, .messages = 2, .bytes = 100}};
  const Messages back{.from = 1, .to = 0, .count = {.intra = false, .messages = 3, .bytes = 1000}};
  traffic.add(7, 2, 0, 3, {&forth, 1});
  EXPECT_EQ(traffic.arrived_by(10)[0].bytes_inter, 0u) << "rank 1 has not reported its end";
  traffic.add(7, 2, 1, 12, {&back, 1});
  EXPECT_EQ(traffic.arrived_by(10)[1].bytes_intra, 5u);
  EXPECT_EQ(traffic.arrived_by(10)[1].bytes_inter, 1000u) << "rank 0 ended at 3 s";
  EXPECT_EQ(traffic.arrived_by(11.9)[0].bytes_inter, 0u);
  EXPECT_EQ(traffic.arrived_by(12)[0].bytes_inter, 100u);
  EXPECT_EQ(traffic.arrived_by(13)[0].messages_inter, 2u);
}

TEST(ArrivedTraffic, KeepsCollectivesApart) {
  ArrivedTraffic traffic(2);
  const Messages part{.from = 0, .to = 1, .count = {.intra = false, .messages = 1, .bytes = 10}};
  for (const std::uint64_t id : {1u, 2u}) traffic.add(id, 2, 0, 1, {&part, 1});
  traffic.add(2, 2, 1, 1, {});
  EXPECT_EQ(traffic.arrived_by(5)[0].bytes_inter, 10u);
  traffic.add(1, 2, 1, 6, {});
  EXPECT_EQ(traffic.arrived_by(5)[0].bytes_inter, 10u);
  EXPECT_EQ(traffic.arrived_by(6)[0].bytes_inter, 20u);
}

}  // namespace
}  // namespace trigram
