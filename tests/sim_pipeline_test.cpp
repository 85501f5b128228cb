// Rings and chains whose ranks pass on what they have, by messages and as flows, against the
// recursion of their longest path; connections that hold few messages, have windows, or open them
// slowly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "core/metering/meter.h"
#include "netmodels/tcp.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"

namespace trigram::test {
namespace {

using Fidelity = SimOptions::Fidelity;

constexpr double kInter_Bps = 1.25e9, kIntra_Bps = 20e9, kIntraLatency = 3e-6;

Cluster nodes_of(int ranks, int workers, double latency_s) {
  Cluster cluster = round_cluster(ranks / workers, workers);
  cluster.inter.bandwidth_Bps = kInter_Bps;
  cluster.inter.latency_s = latency_s;
  cluster.intra.bandwidth_Bps = kIntra_Bps;
  cluster.intra.latency_s = kIntraLatency;
  const double forever = std::numeric_limits<double>::infinity();
  cluster.accelerator = {"instant", forever, forever, 0};
  return cluster;
}

double late_s(int rank, double most_s) { return most_s * ((rank * 7) % 5) / 4; }

/// A connection of which a window leaves in each round trip.
struct Windowed {
  double window, round_trip_s;
  double round_s = -std::numeric_limits<double>::infinity(), used = 0;
  /// When the last of n bytes leaves that are ready at `at_s`.
  double leave(double at_s, double n) {
    while (n > 0) {
      if (at_s >= round_s + round_trip_s) {
        round_s = at_s;
        used = 0;
      }
      const double sent = std::min(n, window - used);
      n -= sent;
      used += sent;
      at_s = n > 0 ? std::max(at_s + sent / kInter_Bps, round_s + round_trip_s)
                   : at_s + sent / kInter_Bps;
    }
    return at_s;
  }
};

/// When each rank is through `rings` ring allreduces of `bytes`, one after another, to the first of
/// which rank r comes late, by the recursion: step s of r begins when chunk s has come from r - 1
/// and the link of r is free.
std::vector<double> recursion(const Cluster& cluster, double bytes, double most_late_s,
                              std::size_t held, int rings = 1) {
  const int P = cluster.ranks(), workers = static_cast<int>(cluster.workers_per_node);
  const double c = bytes / P;
  std::vector<double> ready(static_cast<std::size_t>(P)), free(ready.size(), 0);
  for (int r = 0; r < P; ++r) ready[static_cast<std::size_t>(r)] = late_s(r, most_late_s);
  std::vector<Windowed> windows(ready.size(),
                                {cluster.transport.tcp.window_bytes, 2 * cluster.inter.latency_s});
  std::vector<std::vector<double>> received;  // by step, then rank
  for (int s = 0; s < rings * 2 * (P - 1); ++s) {
    std::vector<double> arrive(ready.size());
    std::vector<double> taken = ready;
    for (std::size_t r = 0; r < ready.size(); ++r) {
      const std::size_t next = (r + 1) % ready.size();
      if (received.size() >= held)
        taken[r] = std::max(ready[r], received[received.size() - held][next]);
      const bool leaves = static_cast<int>(r) % workers == workers - 1;
      free[r] = std::max(taken[r], free[r]);
      free[r] = leaves ? windows[r].leave(free[r], c) : free[r] + c / kIntra_Bps;
      arrive[next] = free[r] + (leaves ? cluster.inter.latency_s : kIntraLatency);
    }
    received.emplace_back();
    for (std::size_t r = 0; r < ready.size(); ++r) {
      received.back().push_back(std::max(ready[r], arrive[r]));
      ready[r] = std::max(received.back()[r], taken[r]);
    }
  }
  return ready;
}

/// The same, simulated.
std::vector<double> ring_ends(const Cluster& cluster, std::size_t bytes, double most_late_s,
                              Fidelity fidelity, int rings = 1) {
  return simulate(cluster,
                  [&](const Context& raw) {
                    const auto meter = instrument(raw, {.phantom = true, .sink = {}});
                    const Context ctx = meter->context();
                    ctx.stream->sleep_for(late_s(ctx.rank(), most_late_s));
                    for (int i = 0; i < rings; ++i)
                      ring_allreduce(ctx, phantom_bytes(bytes), Reduce::sum);
                    return ctx.stream->now();
                  },
                  {.fidelity = fidelity});
}

void expect_ends(const std::vector<double>& ends, const std::vector<double>& expected,
                 const std::string& what) {
  ASSERT_EQ(ends.size(), expected.size()) << what;
  for (std::size_t r = 0; r < ends.size(); ++r)
    ASSERT_NEAR(ends[r], expected[r], 1e-9 * expected[r]) << what << ", rank " << r;
}

struct Ring {
  int ranks, workers;
};

class RingRecursion : public ::testing::TestWithParam<Ring> {};

TEST_P(RingRecursion, HoldsByMessagesAndAsFlows) {
  const auto [ranks, workers] = GetParam();
  for (const double latency_s : {10e-6, 5e-3})
    for (const std::size_t chunk : {std::size_t{4'000}, std::size_t{1'000'000}})
      for (const double late : {0.0, 0.02}) {
        const Cluster cluster = nodes_of(ranks, workers, latency_s);
        const std::size_t bytes = chunk * static_cast<std::size_t>(ranks);
        const auto held = static_cast<std::size_t>(
            std::max(1.0, std::floor(cluster.transport.buffer_bytes / static_cast<double>(chunk))));
        const auto expected = recursion(cluster, static_cast<double>(bytes), late, held);
        for (const Fidelity fidelity : {Fidelity::message, Fidelity::fluid, Fidelity::automatic})
          expect_ends(
              ring_ends(cluster, bytes, late, fidelity), expected,
              fmt::format("fidelity {}, chunks of {} B, {} s of latency, late by up to {} s",
                          static_cast<int>(fidelity), chunk, latency_s, late));
      }
}

INSTANTIATE_TEST_SUITE_P(Nodes, RingRecursion,
                         ::testing::Values(Ring{2, 1}, Ring{3, 1}, Ring{8, 1}, Ring{8, 2},
                                           Ring{16, 4}, Ring{32, 8}, Ring{64, 8}, Ring{128, 8},
                                           Ring{256, 8}),
                         [](const auto& ring) {
                           return fmt::format("{}_ranks_on_nodes_of_{}", ring.param.ranks,
                                              ring.param.workers);
                         });

TEST(RingsOfFewSlots, WaitForRoom) {
  for (const int slots : {1, 2, 5}) {
    Cluster cluster = nodes_of(32, 8, 2e-3);
    cluster.transport.slots = slots;
    const std::size_t bytes = 32 * 50'000;
    const auto expected =
        recursion(cluster, static_cast<double>(bytes), 0.01, static_cast<std::size_t>(slots));
    for (const Fidelity fidelity : {Fidelity::message, Fidelity::fluid})
      expect_ends(ring_ends(cluster, bytes, 0.01, fidelity), expected,
                  fmt::format("{} slots, fidelity {}", slots, static_cast<int>(fidelity)));
  }
}

/// Two rings in a row, with windows of one and a half chunks and of six.
TEST_P(RingRecursion, HoldsWithWindows) {
  const auto [ranks, workers] = GetParam();
  for (const double window : {1.5e6, 6e6})
    for (const double late : {0.0, 0.02}) {
      Cluster cluster = nodes_of(ranks, workers, 5e-3);
      cluster.transport.tcp.window_bytes = window;
      const auto bytes = static_cast<std::size_t>(ranks) * 1'000'000;
      const auto expected = recursion(cluster, static_cast<double>(bytes), late, 4, 2);
      for (const Fidelity fidelity : {Fidelity::message, Fidelity::fluid, Fidelity::automatic})
        expect_ends(ring_ends(cluster, bytes, late, fidelity, 2), expected,
                    fmt::format("fidelity {}, windows of {} B, late by up to {} s",
                                static_cast<int>(fidelity), window, late));
    }
}

/// A rank that is through a ring begins the next one; its link may still be busy with the last.
TEST(RingsInARow, FindLinksBusyWithTheRingBefore) {
  for (const auto& [ranks, workers] : {std::pair{4, 1}, {8, 2}, {32, 8}})
    for (const double late : {0.0, 0.01}) {
      const Cluster cluster = nodes_of(ranks, workers, 100e-6);
      const std::size_t bytes = static_cast<std::size_t>(ranks) * 100'000;
      const auto expected = recursion(cluster, static_cast<double>(bytes), late, 1'000'000, 3);
      for (const Fidelity fidelity : {Fidelity::message, Fidelity::fluid, Fidelity::automatic})
        expect_ends(ring_ends(cluster, bytes, late, fidelity, 3), expected,
                    fmt::format("{} ranks, late by {} s, fidelity {}", ranks, late,
                                static_cast<int>(fidelity)));
    }
}

/// A ring pays the latency between nodes twice for each node, not for each worker; in lock step it
/// pays for each worker.
TEST(Rings, HideLatencyInsideNodesUnlessInLockStep) {
  constexpr double kLatency = 5e-3;
  Cluster cluster = nodes_of(32, 8, kLatency);
  const auto last = [&] {
    const auto ends = ring_ends(cluster, 32 * 100, 0, Fidelity::message);
    return *std::max_element(ends.begin(), ends.end());
  };
  EXPECT_NEAR(last(), 2 * 4 * kLatency, 0.1 * kLatency);
  cluster.transport.protocol = Transport::Protocol::rendezvous;
  EXPECT_NEAR(last(), 2 * 31 * kLatency, 0.1 * kLatency);
}

/// When rank 1 has `count` messages of `bytes` that rank 0 sent in a row.
double received_s(const Cluster& cluster, int count, std::size_t bytes) {
  const auto ends = simulate(cluster, [&](const Context& ctx) {
    const auto kind = ctx.rank() == 0 ? Transfer::send : Transfer::recv;
    for (int i = 0; i < count; ++i) {
      const Transfer batch[] = {{kind, phantom_bytes(bytes), 1 - ctx.rank()}};
      ctx.comm->transfer(batch);
    }
    return ctx.stream->now();
  });
  return ends.at(1);
}

TEST(Connections, SendMessagesOneAfterAnother) {
  const Cluster cluster = nodes_of(2, 1, 4e-3);
  for (const int count : {1, 2, 7})
    EXPECT_NEAR(received_s(cluster, count, 100'000), 4e-3 + count * 1e5 / kInter_Bps, 1e-12);
}

TEST(Connections, OfAWindowMoveItOncePerRoundTrip) {
  Cluster cluster = nodes_of(2, 1, 5e-3);
  cluster.transport.tcp.window_bytes = 65'536;
  for (const int count : {1, 4}) {
    // Between bursts that end with the same part of a window, only the round trips differ.
    const double shorter_s = received_s(cluster, count, 10 * 65'536);
    const double longer_s = received_s(cluster, count, 50 * 65'536);
    EXPECT_NEAR((longer_s - shorter_s) / (count * 40 * 10e-3), 1, 1e-6) << count;
  }
}

/// What fits into a window that is open leaves at the rate of the link; what is sent within a round
/// trip of it waits for its acknowledgement.
TEST(Connections, SendAtOnceWhatTheWindowHasRoomFor) {
  Cluster cluster = nodes_of(2, 1, 5e-3);
  cluster.transport.tcp.window_bytes = 1'000'000;
  const auto ends_s = [&](double pause_s) {
    return simulate(cluster, [&](const Context& ctx) {
      const auto kind = ctx.rank() == 0 ? Transfer::send : Transfer::recv;
      for (int i = 0; i < 2; ++i) {
        const Transfer batch[] = {{kind, phantom_bytes(600'000), 1 - ctx.rank()}};
        ctx.comm->transfer(batch);
        if (i == 0 && ctx.rank() == 0) ctx.stream->sleep_for(pause_s);
      }
      return ctx.stream->now();
    })[1];
  };
  EXPECT_NEAR(received_s(cluster, 1, 1'000'000), 5e-3 + 1e6 / kInter_Bps, 1e-12);
  EXPECT_NEAR(ends_s(0), 5e-3 + 10e-3 + 0.2e6 / kInter_Bps, 1e-12);
  EXPECT_NEAR(ends_s(10e-3), 5e-3 + 10e-3 + 0.6e6 / kInter_Bps, 1e-12);
}

/// A link that is ten times as wide now has room for ten times as much, which a window may not.
TEST(Connections, SeeTheirWindowBindWhereLinksHaveBecomeWider) {
  Cluster wide = nodes_of(2, 1, 5e-3), widened = wide;
  wide.inter.bandwidth_Bps *= 10;
  widened.inter.profile = {{.at_s = 0, .bandwidth_factor = 10}};
  for (Cluster* cluster : {&wide, &widened}) cluster->transport.tcp.window_bytes = 20e6;
  EXPECT_NEAR(received_s(widened, 1, 100'000'000), received_s(wide, 1, 100'000'000), 1e-9);
}

/// Slices travel beside one another, each at its stream's window over the round trip.
TEST(Connections, OfSlicesMoveAWindowOfEachStreamOncePerRoundTrip) {
  Cluster cluster = nodes_of(2, 1, 5e-3);
  cluster.transport.tcp.window_bytes = 65'536;
  cluster.transport.streams = 4;
  cluster.transport.slice_bytes = 1e6;
  const double stream_Bps = 65'536 / 10e-3;
  EXPECT_NEAR(received_s(cluster, 1, 1'000'000), 5e-3 + 1e6 / stream_Bps, 1e-9);
  EXPECT_NEAR(received_s(cluster, 1, 8'000'000), 5e-3 + 2e6 / stream_Bps, 1e-9);
}

/// What is kept of a window is of a stream, of which rings have more than peers.
TEST(Connections, HaveOneWindowForPatternsOfDifferentChannels) {
  Cluster cluster = nodes_of(2, 1, 5e-3);
  cluster.transport.tcp.window_bytes = 1'000'000;
  cluster.transport.channels = 2;
  const auto end_s = [&](std::initializer_list<Pattern> patterns) {
    return simulate(cluster, [&](const Context& ctx) {
      const auto kind = ctx.rank() == 0 ? Transfer::send : Transfer::recv;
      std::size_t bytes = patterns.size() > 1 ? 1000 : 6'000'000;
      for (const Pattern pattern : patterns) {
        const Transfer batch[] = {{kind, phantom_bytes(bytes), 1 - ctx.rank(), pattern}};
        ctx.comm->transfer(batch);
        ctx.stream->sleep_for(1);
        bytes = 6'000'000;
      }
      return ctx.stream->now() - static_cast<double>(patterns.size());
    })[1];
  };
  for (const auto& [first, second] : {std::pair{Pattern::collective, Pattern::point_to_point},
                                      {Pattern::point_to_point, Pattern::collective}})
    EXPECT_NEAR(end_s({first, second}) - end_s({second}), 0, 0.02 * end_s({second}));
}

/// Seconds of a burst of n bytes on a connection that opens from w: it pauses after each window
/// until the acknowledgement of its first bytes, which comes a round trip after they left.
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
  Cluster cluster = nodes_of(2, 1, 5e-3);
  cluster.transport.tcp = linux_tcp();
  cluster.transport.tcp.window_bytes = 1e9;  // does not bind
  for (const std::size_t bytes : {10'000u, 14'480u, 20'000u, 100'000u, 1'000'000u, 50'000'000u})
    EXPECT_NEAR(received_s(cluster, 1, bytes),
                burst_s(static_cast<double>(bytes), 14'480, kInter_Bps, 10e-3), 1e-9)
        << bytes;
}

TEST(SlowStart, EndsWhereTheWindowIsOpenAndBeginsAgainAfterAnIdleTime) {
  Cluster cluster = nodes_of(2, 1, 5e-3);
  cluster.transport.tcp = linux_tcp();
  const auto second_burst_s = [&](double pause_s, std::size_t nbytes = 20'000'000) {
    const auto ends = simulate(cluster, [&](const Context& ctx) {
      const auto kind = ctx.rank() == 0 ? Transfer::send : Transfer::recv;
      double begin_s = 0;
      for (const double start_s : {0.0, 2.0 + pause_s}) {
        ctx.stream->sleep_for(start_s - ctx.stream->now());
        begin_s = ctx.stream->now();
        const Transfer batch[] = {{kind, phantom_bytes(nbytes), 1 - ctx.rank()}};
        ctx.comm->transfer(batch);
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
  // The short one ends while the window still opens.
  for (const std::size_t nbytes : {20'000'000u, 500'000u})
    EXPECT_NEAR(second_burst_s(100, nbytes), received_s(cluster, 1, nbytes), 1e-9) << nbytes;
}

TEST(SlowStart, DoesNotBeginAgainAfterAMessageThatTakesLong) {
  Cluster cluster = nodes_of(2, 1, 5e-3);
  cluster.transport.tcp = linux_tcp();
  const auto end_s = [&] {
    return simulate(cluster, [](const Context& ctx) {
      for (int i = 0; i < 3; ++i) {
        const auto kind = ctx.rank() == 0 ? Transfer::send : Transfer::recv;
        const Transfer batch[] = {{kind, phantom_bytes(200'000'000), 1 - ctx.rank()}};
        ctx.comm->transfer(batch);
      }
      return ctx.stream->now();
    })[1];
  };
  const double with_restart_s = end_s();
  cluster.transport.tcp.restart_after_idle = false;
  EXPECT_NEAR(with_restart_s, end_s(), 1e-9);
}

TEST(Connections, ThatNobodyReceivesFromAreNamed) {
  const std::string failure = failure_of(nodes_of(2, 1, 1e-3), [](Context ctx) {
    const Transfer batch[] = {{Transfer::send, phantom_bytes(100), 1}};
    if (ctx.rank() == 0) ctx.comm->transfer(batch);
  });
  EXPECT_NE(failure.find("rank 0 waits for rank 1 to receive a message on stream main"),
            std::string::npos)
      << failure;
}

}  // namespace
}  // namespace trigram::test
