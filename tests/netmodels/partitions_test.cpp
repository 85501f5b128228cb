// Partitions of the network: what a description cuts, and when a connection sends again.
#include "netmodels/partitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "netmodels/cluster_network.h"
#include "tests/support/clusters.h"

namespace trigram::partitions_test {
namespace {

using testing::HasSubstr;

std::string with(const std::string& events, const std::string& more = "") {
  return R"({"nodes": 4, "inter": {"bandwidth": "1GB/s", "latency": "10us"}, "failures": )" +
         events + more + "}";
}

std::string error_of(const std::string& events, const std::string& more = "") {
  return test::error_of(with(events, more));
}

/// The outages between two nodes, as a list of begins and ends.
std::vector<double> times(const std::string& events, int source, int destination) {
  const Cluster cluster = test::cluster_of(with(events));
  std::vector<double> list;
  for (const Outage& outage : outages(cluster, *make_network(cluster), source, destination))
    list.insert(list.end(), {outage.begin_s, outage.end_s});
  return list;
}

TEST(Partitions, nodes_are_cut_off_the_others_but_not_from_each_other) {
  const std::string events = R"([{"at": "2s", "kind": "partition", "nodes": [0, 3], "for": "5s"}])";
  EXPECT_EQ(times(events, 0, 1), (std::vector<double>{2, 7}));
  EXPECT_EQ(times(events, 2, 3), (std::vector<double>{2, 7}));
  EXPECT_TRUE(times(events, 0, 3).empty());
  EXPECT_TRUE(times(events, 1, 2).empty());
  EXPECT_TRUE(times(events, 0, 0).empty());
}

TEST(Partitions, a_link_is_cut_in_both_directions) {
  for (const char* link : {"worker 2 > switch 0", "switch 0 > worker 2"}) {
    const std::string events =
        R"([{"at": "1s", "kind": "partition", "for": "1s", "link": ")" + std::string(link) + "\"}]";
    for (const auto& [source, destination, cut] :
         {std::tuple(2, 0, true), {0, 2, true}, {0, 1, false}, {3, 1, false}})
      EXPECT_EQ(times(events, source, destination).empty(), !cut) << link << source;
  }
}

TEST(Partitions, overlapping_outages_are_one) {
  EXPECT_EQ(times(R"([{"at": "1s", "kind": "partition", "nodes": [0], "for": "4s"},
                      {"at": "2s", "kind": "partition", "nodes": [1], "for": "1s"},
                      {"at": "5s", "kind": "partition", "nodes": [1], "for": "1s"},
                      {"at": "9s", "kind": "partition", "nodes": [1], "for": "1s"}])",
                  0, 1),
            (std::vector<double>{1, 6, 9, 10}));
}

TEST(Partitions, a_connection_without_tcp_goes_on_at_the_end) {
  InterruptedConnection connection({{1, 3}, {10, 11}}, 0);
  EXPECT_DOUBLE_EQ(connection.end_s(0, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(connection.end_s(0.5, 1), 3.5);    // met by the outage
  EXPECT_DOUBLE_EQ(connection.end_s(2, 0.25), 3.25);  // begins within it
  EXPECT_DOUBLE_EQ(connection.end_s(3, 8), 12);
}

TEST(Partitions, tcp_sends_again_at_a_retransmission) {
  // Attempts at 0.3, 0.9, 2.1 and 4.5 s after the begin: 0.3 (2^k - 1).
  EXPECT_DOUBLE_EQ(InterruptedConnection({{10, 10.2}}, 0.3).stop(10), 10.3);
  EXPECT_DOUBLE_EQ(InterruptedConnection({{10, 10.9}}, 0.3).stop(10), 10.9);
  EXPECT_DOUBLE_EQ(InterruptedConnection({{10, 11}}, 0.3).stop(10), 12.1);
  EXPECT_DOUBLE_EQ(InterruptedConnection({{10, 14}}, 0.3).stop(10), 14.5);
  // The first bytes that are lost leave later.
  EXPECT_DOUBLE_EQ(InterruptedConnection({{10, 11}}, 0.3).stop(10.5), 11.4);
}

TEST(Partitions, timeouts_do_not_grow_without_limit) {
  // 1, 2, 4, ... 64 s, and from then on 120 s: attempts at 127, 247, 367, ... s.
  EXPECT_DOUBLE_EQ(InterruptedConnection({{0, 1000}}, 1).stop(0), 127 + 8 * 120);
}

TEST(Partitions, a_retransmission_may_meet_the_next_outage) {
  // Attempts at 1, 3, 7 and 15 s.
  EXPECT_DOUBLE_EQ(InterruptedConnection({{0, 2}, {2.5, 6}}, 1).stop(0), 7);
  EXPECT_DOUBLE_EQ(InterruptedConnection({{0, 2}, {4, 6}}, 1).stop(0), 3);
}

TEST(Partitions, messages_of_a_stopped_connection_wait_for_its_first_one) {
  InterruptedConnection connection({{10, 11}}, 0.3);
  EXPECT_DOUBLE_EQ(connection.end_s(10, 0.01), 12.11);
  EXPECT_DOUBLE_EQ(connection.end_s(10.5, 0.01), 12.11);
  EXPECT_DOUBLE_EQ(connection.end_s(11.5, 0.01), 12.11);
  EXPECT_DOUBLE_EQ(connection.end_s(12.5, 0.01), 12.51);
}

TEST(Partitions, invalid_descriptions_are_refused) {
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "partition", "nodes": [4], "for": "1s"}])"),
              HasSubstr("/failures/0/nodes: expected nodes below 4, not 4"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "partition", "nodes": [1, 1], "for": "1s"}])"),
              HasSubstr("/failures/0/nodes: expected different nodes"));
  EXPECT_THAT(
      error_of(R"([{"at": "1s", "kind": "partition", "nodes": [0, 1, 2, 3], "for": "1s"}])"),
      HasSubstr("at least one other node"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "partition", "for": "1s"}])"),
              HasSubstr("/failures/0: expected either \"link\" or \"nodes\""));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "partition", "rank": 1, "for": "1s"}])"),
              HasSubstr("/failures/0: expected either \"link\" or \"nodes\""));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "partition", "nodes": [1]}])"),
              HasSubstr("/failures/0/for: expected how long the partition lasts"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "crash", "rank": 1, "nodes": [1]}])"),
              HasSubstr("/failures/0/nodes: has no effect here"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "partition", "link": "cable", "for": "1s"}])"),
              HasSubstr("/failures/0/link: the network has no link \"cable\""));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "partition", "nodes": [1], "for": "1s"}], "inter":)"
                       R"({"bandwidth": "1GB/s", "latency": "1us", "background": {"load": 0.1}})"),
              HasSubstr("/failures: partitions do not stop background traffic"));
}

}  // namespace
}  // namespace trigram::partitions_test
