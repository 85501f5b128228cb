// Simulated messages over networks that partitions interrupt, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "netmodels/network/tcp.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"

namespace trigram::test::partitions_test {
namespace {

constexpr double kNic_Bps = 1e9, kLatency_s = 10e-6;  // as in cluster_with_topology
constexpr double kTolerance_s = 1e-9;

Failure cut(double at_s, double duration_s, std::vector<std::int64_t> nodes,
            const std::string& link = "") {
  return {.at_s = at_s,
          .kind = Failure::Kind::partition,
          .duration_s = duration_s,
          .link = link,
          .nodes = std::move(nodes)};
}

Cluster partitioned(int nodes, std::vector<Failure> partitions) {
  Cluster cluster = cluster_with_topology("flat", nodes);
  cluster.failures.events = std::move(partitions);
  return cluster;
}

/// The time at which rank 1 has received `messages` of `nbytes` that leave rank 0 at `at_s`.
double arrival_s(const Cluster& cluster, double nbytes, double at_s = 0, int messages = 1) {
  return simulate(cluster, [&](const Context& ctx) {
    if (ctx.rank() == 0) ctx.stream->sleep_for(at_s);
    for (int i = 0; i < messages; ++i) message_from_0_to_1(ctx, static_cast<std::size_t>(nbytes));
    return ctx.stream->now();
  })[1];
}

TEST(SimPartitions, a_message_goes_on_where_it_stopped) {
  const double takes_s = kLatency_s + 1e9 / kNic_Bps;
  EXPECT_NEAR(arrival_s(partitioned(2, {cut(0.25, 2, {0})}), 1e9), takes_s + 2, kTolerance_s);
  EXPECT_NEAR(arrival_s(partitioned(2, {cut(0.25, 2, {}, "switch 0 > worker 1")}), 1e9),
              takes_s + 2, kTolerance_s);
  EXPECT_NEAR(arrival_s(partitioned(2, {cut(0.25, 2, {0}), cut(2.5, 1, {1})}), 1e9), takes_s + 3,
              kTolerance_s);
  EXPECT_NEAR(arrival_s(partitioned(2, {cut(1.5, 2, {0})}), 1e9), takes_s, kTolerance_s);
}

TEST(SimPartitions, latency_stands_still_as_well) {
  const double takes_s = kLatency_s + 1e6 / kNic_Bps;
  EXPECT_NEAR(arrival_s(partitioned(2, {cut(4e-6, 1, {0})}), 1e6), takes_s + 1, kTolerance_s);
  // The message leaves within the outage.
  EXPECT_NEAR(arrival_s(partitioned(2, {cut(1, 3, {0})}), 1e6, 2), takes_s + 4, kTolerance_s);
}

TEST(SimPartitions, later_messages_wait_behind_the_first) {
  EXPECT_NEAR(arrival_s(partitioned(2, {cut(2e-3, 2, {0})}), 4e5, 0, 10),
              kLatency_s + 4e6 / kNic_Bps + 2, 1e-8);
}

TEST(SimPartitions, tcp_notices_the_end_at_its_next_retransmission) {
  // The timeout is the round trip and 200 ms, and doubles.
  const double timeout_s = 0.2 + 2 * kLatency_s;
  for (const double outage_s : {0.1, 0.5, 3.0, 10.0}) {
    Cluster cluster = partitioned(2, {cut(0.25, outage_s, {0})});
    cluster.transport.tcp.window_bytes = 1e9;
    int doublings = 1;
    while (timeout_s * (std::exp2(doublings) - 1) < outage_s) ++doublings;
    const double stops_s = timeout_s * (std::exp2(doublings) - 1);
    EXPECT_NEAR(arrival_s(cluster, 1e9), kLatency_s + 1e9 / kNic_Bps + stops_s, kTolerance_s)
        << outage_s;
  }
}

TEST(SimPartitions, other_messages_get_the_bandwidth_of_stopped_ones) {
  // Rank 0 sends 1 GB to ranks 1 and 2, which share its NIC until rank 2 is cut off at 0.5 s.
  const auto ends = simulate(partitioned(3, {cut(0.5, 10, {2})}), [](const Context& ctx) {
    const Tensor bytes = phantom_bytes(1'000'000'000);
    if (ctx.rank() > 0) receive_phantom(ctx, 0, 1'000'000'000);
    else
      ctx.comm->transfer(
          std::vector<Transfer>{{Transfer::send, bytes, 1}, {Transfer::send, bytes, 2}});
    return ctx.stream->now();
  });
  EXPECT_NEAR(ends[1], kLatency_s + 0.5 + 0.75, 1e-4);
  EXPECT_NEAR(ends[2], kLatency_s + 10.5 + 0.75, 1e-4);
}

TEST(SimPartitions, control_messages_wait_too) {
  const auto ends = simulate(partitioned(3, {cut(1, 4, {2})}), [](const Context& ctx) {
    if (ctx.rank() == 0) {
      ctx.stream->sleep_for(2);
      ctx.control->post(1, 0, 0, 0);
      ctx.control->post(2, 0, 0, 0);
    } else {
      ctx.control->receive(0);
    }
    return ctx.stream->now();
  });
  EXPECT_NEAR(ends[1], 2 + kLatency_s, kTolerance_s);
  EXPECT_NEAR(ends[2], 5 + kLatency_s, kTolerance_s);
}

}  // namespace
}  // namespace trigram::test::partitions_test
