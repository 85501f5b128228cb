// Heartbeats: when a worker is suspected, and how long packets wait behind bulk data.
#include "netmodels/heartbeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "netmodels/cluster_network.h"
#include "netmodels/link_queues.h"
#include "netmodels/planned_membership.h"
#include "tests/support/clusters.h"

namespace trigram::heartbeats_test {
namespace {

constexpr double kWindow = 1e6, kNic_Bps = 1e7, kLatency_s = 1e-3;

Cluster cluster(int nodes, const std::string& topology = R"("flat")") {
  return test::cluster_of(R"({"nodes": )" + std::to_string(nodes) +
                          R"(, "inter": {"bandwidth": "10MB/s", "latency": "1ms"}, "topology": )" +
                          topology + "}");
}

double wait_s(const std::vector<BulkFlow>& flows, int source, int destination, int nodes = 4) {
  return queueing_s(*make_network(cluster(nodes)), flows, source, destination);
}

BulkFlow flow(int source, int destination, double unsent = 1e9, double window = kWindow) {
  return {source, destination, unsent, window};
}

TEST(LinkQueues, a_window_waits_except_what_the_route_carries) {
  const double queue = kWindow - kNic_Bps * 2 * kLatency_s;
  EXPECT_NEAR(wait_s({flow(1, 0)}, 1, 0), queue / kNic_Bps, 1e-12);
  EXPECT_NEAR(wait_s({flow(1, 2)}, 1, 0), queue / kNic_Bps, 1e-12);  // the same NIC
  EXPECT_EQ(wait_s({flow(2, 3)}, 1, 0), 0);                          // other links
  EXPECT_EQ(wait_s({flow(0, 1)}, 1, 0), 0);                          // the other direction
}

TEST(LinkQueues, less_waits_if_less_is_left) {
  EXPECT_NEAR(wait_s({flow(1, 0, 1e5)}, 1, 0), 1e5 / kNic_Bps, 1e-12);
}

TEST(LinkQueues, a_window_that_the_route_carries_leaves_no_queue) {
  EXPECT_EQ(wait_s({flow(1, 0, 1e9, kNic_Bps * 2 * kLatency_s)}, 1, 0), 0);
}

TEST(LinkQueues, flows_that_share_a_nic_add_up) {
  const double carried = kNic_Bps / 2 * 2 * kLatency_s;
  EXPECT_NEAR(wait_s({flow(1, 0), flow(1, 2)}, 1, 0), 2 * (kWindow - carried) / kNic_Bps, 1e-12);
}

TEST(LinkQueues, several_senders_fill_the_queue_of_the_receiver) {
  const double carried = kNic_Bps / 3 * 2 * kLatency_s;
  const std::vector<BulkFlow> flows = {flow(1, 0), flow(2, 0), flow(3, 0)};
  EXPECT_NEAR(wait_s(flows, 1, 0), 3 * (kWindow - carried) / kNic_Bps, 1e-12);
  EXPECT_EQ(wait_s(flows, 1, 2), 0);  // the senders' own NICs have none
}

constexpr Heartbeats kBeats = {.every_s = 1, .timeout_s = 3};

TEST(HeartbeatDetector, suspects_after_a_gap_that_is_longer_than_the_timeout) {
  HeartbeatDetector detector(kBeats, 2);
  detector.expect(1, 0);
  detector.sent(1, 1, 1.5);
  EXPECT_EQ(detector.deadline_s(1), 4.5);
  detector.sent(1, 2, 4.5);  // just in time
  EXPECT_TRUE(std::isinf(detector.suspected_s(1)));
  detector.sent(1, 3, 7.75);
  EXPECT_EQ(detector.suspected_s(1), 7.5);  // known at 3 s
  EXPECT_EQ(detector.longest_delay_s(), 4.75);
  detector.sent(1, 4, 20);
  EXPECT_EQ(detector.suspected_s(1), 7.5);  // the first suspicion counts
  detector.expect(1, 10);
  EXPECT_TRUE(std::isinf(detector.suspected_s(1)));
  EXPECT_EQ(detector.deadline_s(1), 13);
}

TEST(HeartbeatDetector, heartbeats_do_not_overtake_each_other) {
  HeartbeatDetector detector(kBeats, 1);
  detector.expect(0, 0);
  detector.sent(0, 1, 3);
  detector.sent(0, 2, 2.1);
  EXPECT_EQ(detector.deadline_s(0), 6);
}

TEST(HeartbeatDetector, keeps_its_state_as_bytes) {
  HeartbeatDetector detector(kBeats, 2), other(kBeats, 2);
  detector.expect(1, 2);
  detector.sent(1, 3, 7);
  other.from_bytes(detector.to_bytes());
  EXPECT_EQ(other.suspected_s(1), 5);
  EXPECT_EQ(other.longest_delay_s(), 4);
  EXPECT_TRUE(other.expects(1));
  EXPECT_FALSE(other.expects(0));
}

Failures with_heartbeats(const std::string& events) {
  return test::cluster_of(
             R"({"nodes": 2, "failures": {"heartbeats": {"every": "1s", "timeout": "3s"},
    "restart": "4s", "events": )" +
             events + "}}")
      .failures;
}

TEST(PlannedMembership, a_crash_is_noticed_when_the_heartbeats_stop) {
  const Failures failures = with_heartbeats(R"([{"at": "2s", "kind": "crash", "rank": 1}])");
  PlannedMembership plan(failures, 2, 1);
  plan.detector()->expect(1, 0);
  EXPECT_FALSE(plan.absence(1, 0));
  plan.detector()->sent(1, 1, 1.25);
  const auto absence = plan.absence(1, 2.5);
  ASSERT_TRUE(absence);
  EXPECT_EQ(absence->kind, Absence::crash);
  EXPECT_EQ(absence->noticed_after_s, 1.25 + 3 - 2.5);
  EXPECT_EQ(absence->back_s, 1.25 + 3 + 4);
}

TEST(PlannedMembership, a_worker_that_is_suspected_falsely_comes_back_at_once) {
  const Failures failures = with_heartbeats("[]");
  PlannedMembership plan(failures, 2, 1);
  plan.detector()->expect(1, 0);
  EXPECT_FALSE(plan.absence(1, 0));
  plan.detector()->sent(1, 1, 6);  // suspected at 3 s
  EXPECT_FALSE(plan.absence(1, 2.9));
  const auto absence = plan.absence(1, 3.5);
  ASSERT_TRUE(absence);
  EXPECT_EQ(absence->kind, Absence::suspicion);
  EXPECT_EQ(absence->noticed_after_s, 0);
  EXPECT_EQ(absence->back_s, 3.5);
  plan.stopped(1, 7, 3.5);
  EXPECT_FALSE(plan.absence(1, 5));  // away
  plan.healed(1, 0, 8, 5);
  EXPECT_FALSE(plan.absence(1, 8));  // its heartbeats count from then on
  EXPECT_TRUE(plan.absence(1, 8.1));
}

TEST(Heartbeats, mistakes_are_refused) {
  EXPECT_THAT(test::error_of(R"({"failures": {"heartbeats": {"every": "2s", "timeout": "1s"}}})"),
              testing::HasSubstr("/failures/heartbeats/timeout"));
  EXPECT_THAT(test::error_of(R"({"failures": {"heartbeats": {}, "detection": "1s"}})"),
              testing::HasSubstr("/failures/detection"));
}

}  // namespace
}  // namespace trigram::heartbeats_test
