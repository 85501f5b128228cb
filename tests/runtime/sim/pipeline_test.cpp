// Rings and chains whose ranks pass on data as soon as they have them, by messages and as flows.
// They are compared with the recursion of their longest path, on connections that buffer few
// messages or have windows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "tests/support/simulate.h"

namespace trigram::test::pipeline_test {
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

/// A connection that sends one window per round trip.
struct Windowed {
  double window, round_trip_s;
  double round_s = -std::numeric_limits<double>::infinity(), used = 0;
  /// The time at which the last of n bytes that are ready at `at_s` leaves.
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

/// The time at which each rank has finished `rings` ring allreduces of `bytes` bytes, one after
/// another, computed by a recursion. Rank r begins late_s(r) after the start. In step s it sends
/// chunk r - 1 - s; the step begins when that chunk has arrived from rank r - 1, the link of rank r
/// is free, and the connection holds fewer than `held` messages.
std::vector<double> recursion(const Cluster& cluster, double bytes, double most_late_s,
                              std::size_t held, int rings = 1) {
  const int P = cluster.ranks(), workers = static_cast<int>(cluster.workers_per_node);
  const auto chunk = [&](int i) {
    return std::floor(bytes * (i + 1) / P) - std::floor(bytes * i / P);
  };
  std::vector<double> ready(static_cast<std::size_t>(P)), free(ready.size(), 0);
  for (int r = 0; r < P; ++r) ready[static_cast<std::size_t>(r)] = late_s(r, most_late_s);
  std::vector<Windowed> windows(ready.size(),
                                {cluster.transport.tcp.window_bytes, 2 * cluster.inter.latency_s});
  std::vector<std::vector<double>> received;  // by step, then rank
  for (int s = 0; s < rings * 2 * (P - 1); ++s) {
    std::vector<double> arrive(ready.size());
    std::vector<double> taken = ready;
    for (std::size_t r = 0; r < ready.size(); ++r) {
      const double c = chunk((static_cast<int>(r) + 3 * P - 1 - s % (2 * (P - 1))) % P);
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

/// The same times from the simulator.
std::vector<double> ring_ends(const Cluster& cluster, std::size_t bytes, double most_late_s,
                              Fidelity fidelity, int rings = 1) {
  return simulate_phantoms(cluster,
                           [&](const Context& ctx) {
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

/// Either every fourth chunk is longer, or some chunks are, without a period. The difference is
/// more than a thousandth.
TEST(LongRings, HoldTheRecursionWithUnevenChunks) {
  constexpr int kRanks = 512, kWorkers = 8;
  for (const double latency_s : {0.1e-6, 1e-3})
    for (const std::size_t longer : {kRanks / 4, 77}) {
      const std::size_t bytes = 500 * kRanks + longer;
      const Cluster cluster = nodes_of(kRanks, kWorkers, latency_s);
      const auto held = static_cast<std::size_t>(cluster.transport.buffer_bytes / 501);
      expect_ends(ring_ends(cluster, bytes, 0, Fidelity::fluid, 2),
                  recursion(cluster, static_cast<double>(bytes), 0, held, 2),
                  fmt::format("{} longer chunks, {} s of latency", longer, latency_s));
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

/// Two consecutive rings, with windows of one and a half chunks and of six chunks.
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

/// A rank that has finished a ring begins the next one. Its link may then still be busy with the
/// ring before.
TEST(ConsecutiveRings, WaitForLinksThatThePreviousRingUses) {
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

/// A ring pays the inter-node latency twice for each node, and not for each worker. With rendezvous
/// messages it pays for each worker.
TEST(Rings, HideLatencyInsideNodesUnlessInLockStep) {
  constexpr double kLatency = 5e-3;
  Cluster cluster = nodes_of(32, 8, kLatency);
  const auto last = [&] {
    return latest_end_s(ring_ends(cluster, 32 * 100, 0, Fidelity::message));
  };
  EXPECT_NEAR(last(), 2 * 4 * kLatency, 0.1 * kLatency);
  cluster.transport.protocol = Transport::Protocol::rendezvous;
  EXPECT_NEAR(last(), 2 * 31 * kLatency, 0.1 * kLatency);
}

}  // namespace
}  // namespace trigram::test::pipeline_test
