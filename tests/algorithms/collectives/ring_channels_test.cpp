#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "algorithms/collectives/collectives.h"
#include "core/metering/meter.h"
#include "core/subset.h"
#include "tests/support/simulate.h"

// The benefits of channels and slices for rings, if reductions cost nothing.

namespace trigram::test::ring_channels_test {
namespace {

constexpr int kNodes = 4, kWorkers = 4;

/// The result of `measure` on each rank after an allreduce of n elements between `members`.
template <class Measure>
std::vector<double> after_allreduce(Cluster cluster, const Rings& rings, std::size_t n,
                                    const std::vector<int>& members, Measure measure) {
  const double infinity = std::numeric_limits<double>::infinity();
  cluster.accelerator = {"instant", infinity, infinity, 0};
  return simulate(cluster, [&](const Context& raw) {
    auto meter = instrument(raw, {.phantom = true, .sink = {}});
    const Context ctx = meter->context();
    if (std::find(members.begin(), members.end(), ctx.rank()) == members.end()) return 0.0;
    Subset subset(*ctx.comm, members);
    channelled_ring_allreduce(ctx.with(subset), ctx.device->empty(n), Reduce::sum, rings);
    return measure(ctx, *meter);
  });
}

/// Every `stride`-th rank.
std::vector<int> ranks_of(const Cluster& cluster, int stride = 1) {
  std::vector<int> ranks;
  for (int rank = 0; rank < cluster.ranks(); rank += stride) ranks.push_back(rank);
  return ranks;
}

/// The duration in seconds of an allreduce of n elements between every `stride`-th worker.
double seconds(const Cluster& cluster, const Rings& rings, std::size_t n, int stride = 1) {
  const auto ended = after_allreduce(cluster, rings, n, ranks_of(cluster, stride),
                                     [](Context ctx, Meter&) { return ctx.stream->now(); });
  return *std::max_element(ended.begin(), ended.end());
}

/// In every stage each rank sends one chunk of each channel, slice by slice.
TEST(Slices, AreMessagesOfChunksOfChannels) {
  constexpr int P = 8;
  constexpr std::size_t kChunk = 6'000;  // bytes
  for (const int channels : {1, 2})
    for (const std::size_t slices : {1, 3}) {
      const Rings rings = {.channels = channels, .slice_bytes = kChunk / slices};
      const std::size_t n = P * static_cast<std::size_t>(channels) * kChunk / 4;
      const Cluster cluster = round_cluster(P);
      const auto expect_each = [&](auto measure, double expected) {
        for (const double value : after_allreduce(cluster, rings, n, ranks_of(cluster), measure))
          EXPECT_EQ(value, expected) << channels << " channels, " << slices << " slices";
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

/// Slices of a chunk are sent together, so they take the chunk's time plus the message overhead
/// of each slice.
TEST(Slices, TakeTheTimeOfTheirMessages) {
  constexpr int P = 8;
  constexpr std::size_t kChunk = 4'000'000;  // bytes
  Cluster cluster = round_cluster(P);
  cluster.transport.message_overhead_s = 10e-6;
  for (const std::size_t slices : {1, 3, 8}) {
    const Rings rings = {.slice_bytes = (kChunk + slices - 1) / slices};
    // The overhead of each slice occupies the connection before the slice is sent.
    const double stage_s = static_cast<double>(slices) * 10e-6 + cluster.inter.latency_s +
                           kChunk / cluster.inter.bandwidth_Bps;
    EXPECT_NEAR(seconds(cluster, rings, P * kChunk / 4), 2 * (P - 1) * stage_s, 1e-9) << slices;
  }
}

TEST(Channels, UseTheNicOfEveryWorker) {
  Cluster cluster = round_cluster(kNodes, kWorkers);
  cluster.intra.bandwidth_Bps = 1e15;
  const std::size_t n = 64'000'000;
  const auto speedup = [&](Nics nics, int channels) {
    cluster.nics = nics;
    return seconds(cluster, {}, n) / seconds(cluster, {.channels = channels}, n);
  };
  EXPECT_NEAR(speedup(Nics::per_worker, kWorkers), kWorkers, 0.05);
  EXPECT_NEAR(speedup(Nics::per_worker, 2), 2, 0.02);
  EXPECT_NEAR(speedup(Nics::shared, kWorkers), 1, 0.01);
}

}  // namespace
}  // namespace trigram::test::ring_channels_test
