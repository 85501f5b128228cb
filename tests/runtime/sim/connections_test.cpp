// Connections between two ranks: consecutive messages, TCP windows, and slow start.
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "netmodels/network/tcp.h"
#include "tests/support/simulate.h"

namespace trigram::test::connections_test {
namespace {

constexpr double kInter_Bps = 1.25e9;

Cluster nodes_of_one(int nodes, double latency_s) {
  Cluster cluster = round_cluster(nodes, 1);
  cluster.inter.bandwidth_Bps = kInter_Bps;
  cluster.inter.latency_s = latency_s;
  return cluster;
}

/// The time at which rank 1 has received `count` messages of `bytes` bytes, which rank 0 has sent
/// in a row.
double received_s(const Cluster& cluster, int count, std::size_t bytes) {
  const auto ends = simulate(cluster, [&](const Context& ctx) {
    for (int i = 0; i < count; ++i) message_from_0_to_1(ctx, bytes);
    return ctx.stream->now();
  });
  return ends.at(1);
}

TEST(Connections, SendMessagesOneAfterAnother) {
  const Cluster cluster = nodes_of_one(2, 4e-3);
  for (const int count : {1, 2, 7})
    EXPECT_NEAR(received_s(cluster, count, 100'000), 4e-3 + count * 1e5 / kInter_Bps, 1e-12);
}

TEST(Connections, SendOneWindowPerRoundTrip) {
  Cluster cluster = nodes_of_one(2, 5e-3);
  cluster.transport.tcp.window_bytes = 65'536;
  for (const int count : {1, 4}) {
    // The two bursts end in the same part of a window, so only the number of round trips differs.
    const double shorter_s = received_s(cluster, count, 10 * 65'536);
    const double longer_s = received_s(cluster, count, 50 * 65'536);
    EXPECT_NEAR((longer_s - shorter_s) / (count * 40 * 10e-3), 1, 1e-6) << count;
  }
}

/// Bytes that fit into an open window leave at the link's bandwidth. Bytes that exceed the window
/// within a round trip wait for its acknowledgement.
TEST(Connections, SendBytesThatFitTheWindowWithoutWaiting) {
  Cluster cluster = nodes_of_one(2, 5e-3);
  cluster.transport.tcp.window_bytes = 1'000'000;
  const auto ends_s = [&](double pause_s) {
    return simulate(cluster, [&](const Context& ctx) {
      for (int i = 0; i < 2; ++i) {
        message_from_0_to_1(ctx, 600'000);
        if (i == 0 && ctx.rank() == 0) ctx.stream->sleep_for(pause_s);
      }
      return ctx.stream->now();
    })[1];
  };
  EXPECT_NEAR(received_s(cluster, 1, 1'000'000), 5e-3 + 1e6 / kInter_Bps, 1e-12);
  EXPECT_NEAR(ends_s(0), 5e-3 + 10e-3 + 0.2e6 / kInter_Bps, 1e-12);
  EXPECT_NEAR(ends_s(10e-3), 5e-3 + 10e-3 + 0.6e6 / kInter_Bps, 1e-12);
}

/// A link with ten times the bandwidth can have ten times as many bytes in flight, which may exceed
/// the window.
TEST(Connections, AreLimitedByTheirWindowOnceLinksAreFaster) {
  Cluster wide = nodes_of_one(2, 5e-3), widened = wide;
  wide.inter.bandwidth_Bps *= 10;
  widened.inter.profile = {{.at_s = 0, .bandwidth_factor = 10}};
  for (Cluster* cluster : {&wide, &widened}) cluster->transport.tcp.window_bytes = 20e6;
  EXPECT_NEAR(received_s(widened, 1, 100'000'000), received_s(wide, 1, 100'000'000), 1e-9);
}

/// Slices travel at the same time, and each stream moves one window per round trip.
TEST(Connections, WithSlicesSendOneWindowPerStreamAndRoundTrip) {
  Cluster cluster = nodes_of_one(2, 5e-3);
  cluster.transport.tcp.window_bytes = 65'536;
  cluster.transport.streams = 4;
  cluster.transport.slice_bytes = 1e6;
  const double stream_Bps = 65'536 / 10e-3;
  EXPECT_NEAR(received_s(cluster, 1, 1'000'000), 5e-3 + 1e6 / stream_Bps, 1e-9);
  EXPECT_NEAR(received_s(cluster, 1, 8'000'000), 5e-3 + 2e6 / stream_Bps, 1e-9);
}

/// The state of a connection's window applies to each of its streams, and rings have more streams
/// than exchanges with peers. An earlier message of the other traffic class hardly changes the
/// time.
TEST(Connections, HaveOneWindowForAllTrafficClasses) {
  Cluster cluster = nodes_of_one(2, 5e-3);
  cluster.transport.tcp.window_bytes = 1'000'000;
  cluster.transport.channels = 2;
  const auto end_s = [&](std::initializer_list<TrafficClass> patterns) {
    return simulate(cluster, [&](const Context& ctx) {
      std::size_t bytes = patterns.size() > 1 ? 1000 : 5'500'000;
      for (const TrafficClass pattern : patterns) {
        message_from_0_to_1(ctx, bytes, pattern);
        ctx.stream->sleep_for(1e-3);
        bytes = 5'500'000;
      }
      return ctx.stream->now();
    })[1];
  };
  for (const auto& [first, second] :
       {std::pair{TrafficClass::collective, TrafficClass::point_to_point},
        {TrafficClass::point_to_point, TrafficClass::collective}})
    EXPECT_NEAR(end_s({first, second}) / end_s({second}), 1, 0.12);
}

/// The duration in seconds of a burst of n bytes on a connection whose window opens from w. After
/// each window the burst pauses until the acknowledgement of the window's first bytes arrives, one
/// round trip after they left.
double burst_s(double n, double w, double Bps, double round_trip_s) {
  double seconds = 0;
  while (n > w && w < Bps * round_trip_s) {
    seconds += round_trip_s;
    n -= w;
    w *= 2;
  }
  return seconds + n / Bps + round_trip_s / 2;
}

TEST(SlowStart, DoublesTheWindowEveryRoundTrip) {
  Cluster cluster = nodes_of_one(2, 5e-3);
  cluster.transport.tcp = linux_tcp();
  cluster.transport.tcp.window_bytes = 1e9;  // not a limit
  for (const std::size_t bytes : {10'000u, 14'480u, 20'000u, 100'000u, 1'000'000u, 50'000'000u})
    EXPECT_NEAR(received_s(cluster, 1, bytes),
                burst_s(static_cast<double>(bytes), 14'480, kInter_Bps, 10e-3), 1e-9)
        << bytes;
}

TEST(SlowStart, EndsWhenTheWindowIsOpenAndRestartsAfterIdleTime) {
  Cluster cluster = nodes_of_one(2, 5e-3);
  cluster.transport.tcp = linux_tcp();
  const auto second_burst_s = [&](double pause_s, std::size_t nbytes = 20'000'000) {
    const auto ends = simulate(cluster, [&](const Context& ctx) {
      double begin_s = 0;
      for (const double start_s : {0.0, 2.0 + pause_s}) {
        ctx.stream->sleep_for(start_s - ctx.stream->now());
        begin_s = ctx.stream->now();
        message_from_0_to_1(ctx, nbytes);
      }
      return ctx.stream->now() - begin_s;
    });
    return ends.at(1);
  };
  const double window = linux_tcp().window_bytes;
  const double open_s = 5e-3 + 6 * 10e-3 + (20e6 - 6 * window) / kInter_Bps;
  cluster.transport.tcp.restart_after_idle = false;
  EXPECT_NEAR(second_burst_s(0), open_s, 1e-9);
  cluster.transport.tcp.restart_after_idle = true;
  EXPECT_GT(second_burst_s(0), open_s + 10e-3) << "closed by its idle time";
  // The short burst ends while the window is still opening.
  for (const std::size_t nbytes : {20'000'000u, 500'000u})
    EXPECT_NEAR(second_burst_s(100, nbytes), received_s(cluster, 1, nbytes), 1e-9) << nbytes;
}

TEST(SlowStart, DoesNotRestartAfterALongMessage) {
  Cluster cluster = nodes_of_one(2, 5e-3);
  cluster.transport.tcp = linux_tcp();
  const auto end_s = [&] {
    return simulate(cluster, [](const Context& ctx) {
      for (int i = 0; i < 3; ++i) message_from_0_to_1(ctx, 200'000'000);
      return ctx.stream->now();
    })[1];
  };
  const double with_restart_s = end_s();
  cluster.transport.tcp.restart_after_idle = false;
  EXPECT_NEAR(with_restart_s, end_s(), 1e-9);
}

TEST(Connections, WithoutAReceiverAreNamedInTheError) {
  const std::string failure = failure_of(nodes_of_one(2, 1e-3), [](Context ctx) {
    if (ctx.rank() == 0) send_phantom(ctx, 1, 100);
  });
  EXPECT_NE(failure.find("rank 0 waits for rank 1 to receive a message on stream main"),
            std::string::npos)
      << failure;
}

}  // namespace
}  // namespace trigram::test::connections_test
