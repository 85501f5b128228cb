#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "algorithms/collectives/channels.h"
#include "core/metering/meter.h"
#include "tests/support/simulate.h"

// What channels and chunks in flight are good for, and where they are not: rings over nodes of
// several workers, and rings of single workers (of node leaders), with reductions that cost
// nothing.

namespace trigram::test {
namespace {

constexpr int kNodes = 4, kWorkers = 4;

/// Seconds of an allreduce of n elements between all workers.
double seconds(Cluster cluster, const Rings& rings, std::size_t n) {
  const double forever = std::numeric_limits<double>::infinity();
  cluster.accelerator = {"instant", forever, forever, 0};
  const auto ended = simulate(cluster, [&](const Context& raw) {
    auto meter = instrument(raw, {.phantom = true, .sink = {}});
    const Context ctx = meter->context();
    channelled_ring_allreduce(ctx, ctx.device->empty(n), Reduce::sum, rings);
    return ctx.stream->now();
  });
  return *std::max_element(ended.begin(), ended.end());
}

/// The c-th worker of a node passes on up to W chunks in turn c of a round, the last of them to the
/// next node; every turn waits for the one before.
double expected_s(const Cluster& cluster, std::size_t n) {
  const int P = cluster.ranks(), W = kWorkers, stages = 2 * (P - 1);
  const double chunk_bytes = 4.0 * static_cast<double>(n) / P;
  double total = 0;
  for (int last = 0; last < stages + W - 1; ++last) {
    const int chunks = std::min(last, stages - 1) - std::max(0, last - W + 1) + 1;
    const bool between_nodes = last % W == W - 1;
    const double latency_s = between_nodes ? cluster.inter.latency_s : cluster.intra.latency_s;
    const double rate = between_nodes ? cluster.inter.bandwidth_Bps : cluster.intra.bandwidth_Bps;
    total += latency_s + chunks * chunk_bytes / rate;
  }
  return total;
}

TEST(ChunksInFlight, TakeTheTimeOfTheirTurns) {
  const Cluster cluster = round_cluster(kNodes, kWorkers);
  for (const std::size_t n : {0u, 16'000u, 16'000'000u}) {
    const double expected = expected_s(cluster, n);
    EXPECT_NEAR(seconds(cluster, {.in_flight = kWorkers}, n), expected, 1e-9 * expected) << n;
  }
}

/// One hop of four is between nodes, and that is all that is left of its latency.
TEST(ChunksInFlight, HideTheLatencyBetweenNodesOnFlatRings) {
  Cluster cluster = round_cluster(kNodes, kWorkers);
  cluster.inter.latency_s = 100 * cluster.intra.latency_s;
  const auto speedup = [&](std::size_t n) {
    return seconds(cluster, {}, n) / seconds(cluster, {.in_flight = kWorkers}, n);
  };
  EXPECT_NEAR(speedup(16) / kWorkers, 1, 0.1);
  EXPECT_LT(speedup(64'000'000), 1) << "bytes are not hidden";
}

/// Every hop of a chunk is between nodes: the chain of hops is as long whoever waits for whom.
TEST(ChunksInFlight, HideNothingOnRingsOfLeaders) {
  const Cluster cluster = round_cluster(kNodes * kWorkers);
  for (const std::size_t n : {16u, 16'000u, 64'000'000u})
    for (const int in_flight : {2, 4, 16})
      EXPECT_GT(seconds(cluster, {.in_flight = in_flight}, n), seconds(cluster, {}, n))
          << n << " elements, " << in_flight << " in flight";
}

/// Slices of a chunk leave together, so they take the chunk's time and the software's for each.
TEST(Slices, TakeTheTimeOfTheirMessages) {
  constexpr int P = 8;
  constexpr std::size_t kChunk = 4'000'000;  // bytes
  Cluster cluster = round_cluster(P);
  cluster.transport.message_overhead_s = 10e-6;
  for (const std::size_t slices : {1, 3, 8}) {
    const Rings rings = {.slice_bytes = (kChunk + slices - 1) / slices};
    const double stage_s = static_cast<double>(slices) * 10e-6 + cluster.inter.latency_s +
                           kChunk / cluster.inter.bandwidth_Bps;
    EXPECT_NEAR(seconds(cluster, rings, P * kChunk / 4), 2 * (P - 1) * stage_s, 1e-9) << slices;
  }
}

TEST(Channels, UseTheNicOfEveryWorker) {
  Cluster cluster = round_cluster(kNodes, kWorkers);
  cluster.intra.bandwidth_Bps = 1e15;
  const std::size_t n = 64'000'000;
  for (const int in_flight : {1, kWorkers}) {
    const auto speedup = [&](Nics nics, int channels) {
      cluster.nics = nics;
      return seconds(cluster, {.in_flight = in_flight}, n) /
             seconds(cluster, {.channels = channels, .in_flight = in_flight}, n);
    };
    EXPECT_NEAR(speedup(Nics::per_worker, kWorkers), kWorkers, 0.05) << in_flight;
    EXPECT_NEAR(speedup(Nics::per_worker, 2), 2, 0.02) << in_flight;
    EXPECT_NEAR(speedup(Nics::shared, kWorkers), 1, 0.01) << in_flight;
  }
}

}  // namespace
}  // namespace trigram::test
