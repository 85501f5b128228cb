#include "experiments/calibrate/window_probe.h"

#include <gtest/gtest.h>

#include "tests/support/in_child.h"
#include "tests/support/simulate.h"

// Calibration must find the windows of connections in a simulation whose windows are known.

namespace trigram::test::window_probe_test {
namespace {

constexpr double kLatency_s = 5e-3;

Cluster cluster_of(int nodes, double window_bytes) {
  Cluster cluster = round_cluster(nodes);
  cluster.inter = {100e6, kLatency_s};
  cluster.transport.tcp.window_bytes = window_bytes;
  return cluster;
}

WindowProbe probe(const Cluster& cluster) {
  return values_from_child<WindowProbe>([&] {
           std::vector<WindowProbe> result(1);
           make_sim_runtime({}, cluster)->launch(cluster.layout(), [&](const Context& ctx) {
             const WindowProbe mine = probe_window(ctx, {.iterations = 1, .warm_up = 1});
             if (ctx.world_rank == 0) result[0] = mine;
           });
           return result;
         })
      .at(0);
}

/// The messages take at least 60 windows and a quarter of that, so the difference is 45 windows;
/// one window more or less changes the rate by 1/45.
TEST(WindowProbe, FindsTheWindowOfAConnection) {
  constexpr double kTolerance = 1 / 45.0;
  for (const double window : {16e3, 65536.0, 500e3})
    for (const int nodes : {3, 4, 12}) {
      const WindowProbe found = probe(cluster_of(nodes, window));
      SCOPED_TRACE(testing::Message() << window << " B, " << nodes << " nodes");
      EXPECT_TRUE(found.binds());
      EXPECT_EQ(found.connections, std::min(nodes - 1, 8));
      EXPECT_NEAR(found.round_trip_s, 2 * kLatency_s, 1e-3 * kLatency_s);
      EXPECT_NEAR(found.in_flight_bytes(), window, kTolerance * window);
      const double together = std::min(100e6, found.connections * window / (2 * kLatency_s));
      EXPECT_NEAR(found.together_Bps, together, kTolerance * together);
    }
}

/// At 100 MB/s, 1 MB is in flight in 10 ms, whether windows are larger or there are none.
TEST(WindowProbe, ReportsTheBytesInFlightIfNoWindowLimits) {
  for (const double window : {4e6, std::numeric_limits<double>::infinity()}) {
    const WindowProbe found = probe(cluster_of(4, window));
    EXPECT_TRUE(found.measurable());
    EXPECT_FALSE(found.binds()) << window;
    EXPECT_NEAR(found.in_flight_bytes(), 1e6, 0.01e6);
  }
}

/// A round trip of 0.4 ms may be due to software, and two ranks have only one connection.
TEST(WindowProbe, MeasuresNothingWithShortRoundTripsOrTwoRanks) {
  Cluster short_links = cluster_of(4, 64e3);
  short_links.inter.latency_s = 0.2e-3;
  EXPECT_FALSE(probe(short_links).measurable());
  short_links.inter.latency_s = 0.3e-3;
  EXPECT_TRUE(probe(short_links).measurable());
  const WindowProbe two_ranks = probe(cluster_of(2, 64e3));
  EXPECT_FALSE(two_ranks.measurable());
  EXPECT_FALSE(two_ranks.binds());
  EXPECT_NEAR(two_ranks.round_trip_s, 2 * kLatency_s, 1e-3 * kLatency_s);
}

}  // namespace
}  // namespace trigram::test::window_probe_test
