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

/// What `of` says on each rank after an allreduce of n elements between `members`.
template <class Of>
std::vector<double> after_allreduce(Cluster cluster, const Rings& rings, std::size_t n,
                                    const std::vector<int>& members, Of of) {
  const double forever = std::numeric_limits<double>::infinity();
  cluster.accelerator = {"instant", forever, forever, 0};
  return simulate(cluster, [&](const Context& raw) {
    auto meter = instrument(raw, {.phantom = true, .sink = {}});
    const Context ctx = meter->context();
    if (std::find(members.begin(), members.end(), ctx.rank()) == members.end()) return 0.0;
    Subset subset(*ctx.comm, members);
    channelled_ring_allreduce(ctx.with(subset), ctx.device->empty(n), Reduce::sum, rings);
    return of(ctx, *meter);
  });
}

std::vector<int> every(int stride, const Cluster& cluster) {
  std::vector<int> ranks;
  for (int rank = 0; rank < cluster.ranks(); rank += stride) ranks.push_back(rank);
  return ranks;
}

/// Seconds of an allreduce of n elements between every `stride`-th worker.
double seconds(const Cluster& cluster, const Rings& rings, std::size_t n, int stride = 1) {
  const auto ended = after_allreduce(cluster, rings, n, every(stride, cluster),
                                     [](Context ctx, Meter&) { return ctx.stream->now(); });
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

/// Of the hops of a chunk one per node is between nodes, and no other waits for that latency: it is
/// paid twice for each node, and not twice for each worker.
TEST(ChunksInFlight, HideTheLatencyBetweenNodesOnFlatRings) {
  for (const int workers : {4, 8, 16}) {
    Cluster cluster = round_cluster(kNodes, workers);
    cluster.inter.latency_s = 1e-3;
    const int stages = 2 * (cluster.ranks() - 1), turns = stages + workers - 1;
    const auto took_s = [&](int in_flight) {
      return seconds(cluster, {.in_flight = in_flight}, 0);
    };
    EXPECT_NEAR(took_s(1), stages * 1e-3, 1e-9);
    EXPECT_NEAR(took_s(workers), 2 * kNodes * 1e-3 + (turns - 2 * kNodes) * 1e-6, 1e-9);
    EXPECT_GT(took_s(1) / took_s(workers), 0.9 * workers);
    const auto with_bytes_s = [&](int in_flight) {
      return seconds(cluster, {.in_flight = in_flight}, 256'000'000);
    };
    EXPECT_GT(with_bytes_s(workers), with_bytes_s(1)) << "bytes are not hidden";
  }
}

/// Seconds of a ring of P between whose ranks all hops are alike: every chunk has as many hops,
/// whoever waits for whom, and of W ranks one sends at a time.
double leaders_s(int P, int W, double chunk_bytes, const LinkSpec& hop) {
  const int stages = 2 * (P - 1);
  return (stages + W - 1) * hop.latency_s + W * stages * chunk_bytes / hop.bandwidth_Bps;
}

/// Leaders of nodes of several workers, and single workers of nodes: all hops are between nodes.
TEST(ChunksInFlight, HideNothingOnRingsOfLeaders) {
  for (const int stride : {kWorkers, 1}) {
    const int P = 16;
    const Cluster cluster = round_cluster(P, stride);
    for (const std::size_t n : {0u, 16'000u, 64'000'000u})
      for (const int W : {1, 2, 4, 16}) {
        const double took_s = seconds(cluster, {.in_flight = W}, n, stride);
        const double expected_s = leaders_s(P, W, 4.0 * static_cast<double>(n) / P, cluster.inter);
        EXPECT_NEAR(took_s, expected_s, 1e-9 * expected_s)
            << n << " elements, " << W << " in flight";
        EXPECT_GE(took_s, 2 * (P - 1) * cluster.inter.latency_s) << "latency is not hidden";
      }
  }
}

/// Each rank sends each chunk of each channel on, in every stage, slice by slice.
TEST(Slices, AreMessagesOfChunksOfChannels) {
  constexpr int P = 8;
  constexpr std::size_t kChunk = 6'000;  // bytes
  for (const int channels : {1, 2})
    for (const std::size_t slices : {1, 3}) {
      const Rings rings = {.channels = channels, .slice_bytes = kChunk / slices};
      const std::size_t n = P * static_cast<std::size_t>(channels) * kChunk / 4;
      const Cluster cluster = round_cluster(P);
      const auto expect_each = [&](auto of, double expected) {
        for (const double seen : after_allreduce(cluster, rings, n, every(1, cluster), of))
          EXPECT_EQ(seen, expected) << channels << " channels, " << slices << " slices";
      };
      const double chunks = 2.0 * (P - 1) * channels;
      expect_each([](Context,
                     Meter& meter) { return static_cast<double>(meter.counters().messages_inter); },
                  chunks * static_cast<double>(slices));
      expect_each(
          [](Context, Meter& meter) { return static_cast<double>(meter.counters().bytes_inter); },
          chunks * kChunk);
    }
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
