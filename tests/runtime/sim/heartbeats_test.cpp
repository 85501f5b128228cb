// Simulated heartbeats beside bulk data, against closed forms.
#include <gtest/gtest.h>

#include "tests/support/in_child.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"

namespace trigram::test::heartbeats_test {
namespace {

constexpr double kLatency_s = 10e-3, kBeat = 1000, kSent_s = 5;
constexpr double kTolerance_s = 1e-9;

Cluster slow_cluster(double nic_Bps, double window) {
  Cluster cluster = round_cluster(2);
  cluster.inter = {nic_Bps, kLatency_s};
  cluster.transport.tcp.window_bytes = window;
  cluster.transport.buffer_bytes = 1e12;
  return cluster;
}

/// How long a heartbeat from rank 0 to rank 1 takes that is sent at kSent_s, while rank 0 sends
/// `bulk` bytes from the beginning on.
double delay_s(const Cluster& cluster, double bulk, bool behind_bulk) {
  return values_from_child<double>([&] {
    const auto runtime = make_sim_runtime({}, cluster);
    std::vector<double> delays = {0};
    runtime->launch(cluster.layout(), [&](const Context& ctx) {
      const auto beats = ctx.stream->fork("heartbeats");
      const auto sent = beats->submit(ctx, [&](const Context& c) {
        c.stream->sleep_for(kSent_s);
        if (c.world_rank == 0)
          delays[0] = runtime->heartbeat_arrival_s(0, 1, kBeat, behind_bulk) - c.stream->now();
      });
      message_from_0_to_1(ctx, static_cast<std::size_t>(bulk));
      ctx.stream->wait(*sent);
    });
    return delays;
  })[0];
}

TEST(SimHeartbeats, wait_behind_the_rest_of_a_window) {
  for (const double nic_Bps : {1.25e6, 125e6}) {
    const double window = 12e6, bulk = 1e4 * nic_Bps;
    const double queue = window - nic_Bps * 2 * kLatency_s;
    EXPECT_NEAR(delay_s(slow_cluster(nic_Bps, window), bulk, true),
                (queue + kBeat) / nic_Bps + kLatency_s, kTolerance_s);
    EXPECT_NEAR(delay_s(slow_cluster(nic_Bps, window), bulk, false), kBeat / nic_Bps + kLatency_s,
                kTolerance_s);
  }
}

TEST(SimHeartbeats, wait_only_behind_what_is_left) {
  constexpr double kNic_Bps = 1.25e6, kLeft = 2e6;
  // A byte leaves when it is on the wire; the last kLeft bytes leave after kSent_s.
  const double bulk = kNic_Bps * kSent_s + kLeft;
  EXPECT_NEAR(delay_s(slow_cluster(kNic_Bps, 12e6), bulk, true),
              (kLeft + kBeat) / kNic_Bps + kLatency_s, 1e-6);
  EXPECT_NEAR(delay_s(slow_cluster(kNic_Bps, 12e6), kNic_Bps * kSent_s / 2, true),
              kBeat / kNic_Bps + kLatency_s, kTolerance_s);
}

TEST(SimHeartbeats, wait_behind_a_window_that_slow_start_opens) {
  constexpr double kNic_Bps = 1.25e6;
  Cluster cluster = slow_cluster(kNic_Bps, 12e6);
  cluster.transport.tcp.slow_start = true;
  // The window grows by what is acknowledged, which is what has arrived.
  const double arrived = kNic_Bps * (kSent_s - kLatency_s),
               window = cluster.transport.tcp.initial_window_bytes + arrived;
  EXPECT_NEAR(delay_s(cluster, 1e4 * kNic_Bps, true),
              (window - kNic_Bps * 2 * kLatency_s + kBeat) / kNic_Bps + kLatency_s, 1e-2);
}

TEST(SimHeartbeats, do_not_pass_a_partition) {
  Cluster cluster = slow_cluster(1.25e6, 12e6);
  cluster.failures.events = {
      {.at_s = 4, .kind = Failure::Kind::partition, .duration_s = 30, .nodes = {0}}};
  EXPECT_GE(delay_s(cluster, 1, false), 4 + 30 - kSent_s);
}

}  // namespace
}  // namespace trigram::test::heartbeats_test
