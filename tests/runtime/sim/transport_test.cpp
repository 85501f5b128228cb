// The cost of protocols and software on a simulated network between nodes, compared with closed
// forms.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/collectives/collectives.h"
#include "netmodels/cluster_network.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"

namespace trigram::test::transport_test {
namespace {

constexpr double kNic_Bps = 1e9, kLatency = 10e-6;  // as in cluster_with_topology
constexpr double kBytes = 1e6;

Cluster with(const Transport& transport, int nodes = 2, int workers = 1) {
  Cluster cluster = cluster_with_topology("flat", nodes, workers);
  cluster.transport = transport;
  return cluster;
}

/// The time at which the last rank has exchanged `messages` messages at once: every rank sends them
/// to the rank `distance` ranks after it.
double last_end_s(const Cluster& cluster, int messages, int distance) {
  return latest_end_s(simulate(cluster, [&](const Context& ctx) {
    const int P = ctx.size();
    const Tensor x = phantom_bytes(static_cast<std::size_t>(kBytes));
    std::vector<Transfer> batch;
    for (int i = 0; i < messages; ++i) {
      batch.push_back({Transfer::recv, x, (ctx.rank() + P - distance) % P});
      batch.push_back({Transfer::send, x, (ctx.rank() + distance) % P});
    }
    ctx.comm->transfer(batch);
    return ctx.stream->now();
  }));
}

TEST(Transport, AddsNothingByDefault) {
  EXPECT_NEAR(last_end_s(with({}), 1, 1), kLatency + kBytes / kNic_Bps, 1e-12);
}

TEST(Transport, GoodputIsAShareOfEveryLinkBetweenNodes) {
  EXPECT_NEAR(last_end_s(with({.goodput = 0.8}), 1, 1), kLatency + kBytes / (0.8 * kNic_Bps),
              1e-12);
  Cluster tree = cluster_with_topology({{"kind", "fat_tree"}, {"k", 4}}, 16);
  tree.transport.goodput = 0.5;
  EXPECT_NEAR(last_end_s(tree, 1, 1), kLatency + kBytes / (0.5 * kNic_Bps), 1e-12);
  EXPECT_EQ(make_network(tree)->bisection().bandwidth_Bps, 8 * 0.5 * kNic_Bps);
}

TEST(Transport, GoodputIsAShareOfLinksBetweenSwitches) {
  // Messages go from pod to pod over links of a quarter of a NIC's bandwidth; shifts do not
  // collide.
  Cluster tree =
      cluster_with_topology({{"kind", "fat_tree"}, {"k", 4}, {"bandwidth", "0.25GB/s"}}, 16);
  EXPECT_NEAR(last_end_s(tree, 1, 8), kLatency + kBytes / 0.25e9, 1e-12);
  tree.transport.goodput = 0.8;
  EXPECT_NEAR(last_end_s(tree, 1, 8), kLatency + kBytes / (0.8 * 0.25e9), 1e-12);
  EXPECT_EQ(make_network(tree)->bandwidth(0, 8), 0.8 * 0.25e9);
}

TEST(Transport, TheNicsOfANodeShareItsCap) {
  Cluster cluster = with({.node_cap_Bps = 1.5e9}, 2, 4);
  cluster.nics = Nics::per_worker;
  // The four workers of each node send to the other node.
  EXPECT_NEAR(last_end_s(cluster, 1, 4), kLatency + 4 * kBytes / 1.5e9, 1e-12);
  cluster.nics = Nics::shared;
  EXPECT_NEAR(last_end_s(cluster, 1, 4), kLatency + 4 * kBytes / kNic_Bps, 1e-12);
  cluster.transport.node_cap_Bps = 0.25e9;
  EXPECT_NEAR(last_end_s(cluster, 1, 4), kLatency + 4 * kBytes / 0.25e9, 1e-12);
}

TEST(Transport, TheCapOfANodeLimitsReceivedBytes) {
  const auto ends = simulate(with({.node_cap_Bps = 0.5e9}, 3), [](const Context& ctx) {
    const Tensor x = phantom_bytes(static_cast<std::size_t>(kBytes));
    std::vector<Transfer> batch;
    if (ctx.rank() == 0) batch = {{Transfer::recv, x, 1}, {Transfer::recv, x, 2}};
    else batch = {{Transfer::send, x, 0}};
    ctx.comm->transfer(batch);
    return ctx.stream->now();
  });
  EXPECT_NEAR(ends.at(0), kLatency + 2 * kBytes / 0.5e9, 1e-12);
}

TEST(Transport, MessagesOfAConnectionShareItsLimit) {
  const Cluster cluster = with({.connection_cap_Bps = 0.1e9}, 4);
  EXPECT_NEAR(last_end_s(cluster, 1, 1), kLatency + kBytes / 0.1e9, 1e-12);
  EXPECT_NEAR(last_end_s(cluster, 3, 1), kLatency + 3 * kBytes / 0.1e9, 1e-12);
  EXPECT_EQ(make_network(cluster)->bandwidth(0, 1), 0.1e9);
  EXPECT_NEAR(make_network(cluster)->message_time(0, 1, kBytes), kLatency + kBytes / 0.1e9, 1e-15);
}

TEST(Transport, CollectivesHaveAllChannelsAndOtherTrafficOne) {
  const Cluster cluster = with({.channels = 2, .stream_cap_Bps = 0.1e9}, 2);
  const auto end_s = [&](TrafficClass pattern) {
    return simulate(cluster, [&](const Context& ctx) {
      message_from_0_to_1(ctx, static_cast<std::size_t>(kBytes), pattern);
      return ctx.stream->now();
    })[1];
  };
  EXPECT_NEAR(end_s(TrafficClass::collective), kLatency + kBytes / 0.2e9, 1e-12);
  for (const TrafficClass one :
       {TrafficClass::point_to_point, TrafficClass::all_to_all, TrafficClass::server})
    EXPECT_NEAR(end_s(one), kLatency + kBytes / 0.1e9, 1e-12);
}

/// The seconds until `nbytes` bytes have arrived, if one window leaves per round trip, at the NIC's
/// bandwidth.
double windowed_s(double nbytes, double window, double latency_s) {
  const double windows = std::ceil(nbytes / window) - 1;  // windows before the last one
  return latency_s + windows * 2 * latency_s + (nbytes - windows * window) / kNic_Bps;
}

TEST(Transport, AWindowIsSentOncePerRoundTrip) {
  // 8 KiB per 20 us are fewer bytes than the NIC moves. With a hundredth of the latency the window
  // is no limit.
  Cluster cluster = with({.tcp = {.window_bytes = 8192}}, 2);
  EXPECT_NEAR(last_end_s(cluster, 1, 1), windowed_s(kBytes, 8192, kLatency), 1e-12);
  EXPECT_NEAR(last_end_s(cluster, 2, 1) / windowed_s(2 * kBytes, 8192, kLatency), 1, 0.01);
  cluster.inter.latency_s /= 100;
  EXPECT_NEAR(last_end_s(cluster, 2, 1), kLatency / 100 + 2 * kBytes / kNic_Bps, 1e-12);
}

TEST(Transport, TheRoundTripOfAWindowIncludesTheTopologysLatency) {
  Cluster cluster =
      cluster_with_topology({{"kind", "torus"}, {"dimensions", {2}}, {"latency", "40us"}}, 2);
  cluster.transport.tcp.window_bytes = 8192;
  const double latency_s = kLatency + 40e-6;
  EXPECT_NEAR(last_end_s(cluster, 1, 1), windowed_s(kBytes, 8192, latency_s), 1e-12);
}

/// Each connection has its own window, in each direction.
TEST(Transport, EveryConnectionHasItsWindow) {
  const Cluster cluster = with({.tcp = {.window_bytes = 2000}}, 4);
  const auto ends = simulate(cluster, [](const Context& ctx) {
    std::vector<Transfer> batch;
    const Tensor x = phantom_bytes(static_cast<std::size_t>(kBytes));
    for (int peer = 0; peer < ctx.size(); ++peer) {
      if (peer == ctx.rank()) continue;
      batch.push_back({Transfer::recv, x, peer});
      batch.push_back({Transfer::send, x, peer});
    }
    ctx.comm->transfer(batch);
    return ctx.stream->now();
  });
  for (const double end_s : ends) EXPECT_NEAR(end_s, windowed_s(kBytes, 2000, kLatency), 1e-12);
}

TEST(Transport, StreamsMoveMoreTogether) {
  Cluster cluster = with({.streams = 3, .stream_cap_Bps = 0.1e9}, 4);
  EXPECT_NEAR(last_end_s(cluster, 1, 1), kLatency + kBytes / 0.3e9, 1e-12);
  EXPECT_NEAR(last_end_s(cluster, 2, 1), kLatency + 2 * kBytes / 0.3e9, 1e-12);
  cluster.transport.connection_cap_Bps = 0.2e9;
  EXPECT_NEAR(last_end_s(cluster, 1, 1), kLatency + kBytes / 0.2e9, 1e-12);
  // Every stream has its own window.
  const Cluster windows = with({.streams = 3, .tcp = {.window_bytes = 1000}});
  EXPECT_NEAR(last_end_s(windows, 1, 1), windowed_s(kBytes, 3000, kLatency), 1e-12);
}

/// A slice has max(ceil(n / streams), slice) bytes, like Bagua-Net's `chunk_size`.
TEST(Transport, AMessageHasAsManyStreamsAsSlices) {
  constexpr double kMiB = 1 << 20;
  const Transport even{.streams = 4}, sliced{.streams = 4, .slice_bytes = kMiB};
  for (const double nbytes : {1.0, 1000.0, kMiB, 9 * kMiB})
    EXPECT_EQ(even.streams_per_message(nbytes), 4);
  const std::pair<double, int> expected[] = {{0, 1},
                                             {1, 1},
                                             {kMiB, 1},
                                             {kMiB + 1, 2},
                                             {1.5 * kMiB, 2},
                                             {2 * kMiB, 2},
                                             {2 * kMiB + 1, 3},
                                             {3.5 * kMiB, 4},
                                             {4 * kMiB, 4},
                                             {4 * kMiB + 1, 4},
                                             {100 * kMiB, 4}};
  for (const auto& [nbytes, streams] : expected)
    EXPECT_EQ(sliced.streams_per_message(nbytes), streams) << nbytes;
}

/// A message takes as long as its longest slice on a stream of its own.
TEST(Transport, AMessageMovesNoFasterThanItsLongestSlice) {
  constexpr double kStream_Bps = 0.05e9;
  for (const int streams : {1, 2, 4})
    for (const double slice : {0.1e6, 0.3e6, 0.4e6, 0.6e6, 1e6, 5e6}) {
      const Transport transport{
          .streams = streams, .slice_bytes = slice, .stream_cap_Bps = kStream_Bps};
      const double longest = std::min(kBytes, std::max(std::ceil(kBytes / streams), slice));
      EXPECT_NEAR(last_end_s(with(transport), 1, 1), kLatency + longest / kStream_Bps, 1e-9)
          << streams << " " << slice;
    }
}

/// The stream index advances with each message, so short messages use different streams.
TEST(Transport, ShortMessagesUseTheStreamsInTurn) {
  constexpr double kStream_Bps = 0.05e9;
  const Transport transport{
      .buffer_bytes = 8 * kBytes, .streams = 4, .slice_bytes = 2e6, .stream_cap_Bps = kStream_Bps};
  for (const int messages : {1, 2, 4})
    EXPECT_NEAR(last_end_s(with(transport), messages, 1), kLatency + kBytes / kStream_Bps, 1e-9);
  EXPECT_NEAR(last_end_s(with(transport), 8, 1), kLatency + 2 * kBytes / kStream_Bps, 1e-9);
}

/// The parts of a ring message on different channels are cut into slices separately.
TEST(Transport, EveryChannelHasItsSlices) {
  const NodeConnection connection{2, 0, 1, 0, 0};
  const Transport transport{
      .streams = 4, .slice_bytes = 1000, .channels = 2, .stream_cap_Bps = 100};
  const auto Bps = [&](TrafficClass pattern, double nbytes) {
    return transport.message_Bps(connection, 0, pattern, nbytes, Rate::burst);
  };
  EXPECT_EQ(Bps(TrafficClass::collective, 1500), 200);  // a slice of 750 bytes on either channel
  EXPECT_EQ(Bps(TrafficClass::collective, 3000), 300);  // 1,000 and 500 bytes on either channel
  EXPECT_EQ(Bps(TrafficClass::collective, 16000), 800);
  EXPECT_EQ(Bps(TrafficClass::point_to_point, 1000), 100);
  EXPECT_EQ(Bps(TrafficClass::point_to_point, 3000), 300);
  EXPECT_EQ(Bps(TrafficClass::point_to_point, 16000), 400);
}

TEST(Transport, LossLimitsEveryStream) {
  // 0.9 / sqrt(0.0004) = 45 segments of 1,000 bytes per round trip of 20 us would be 2.25 GB/s.
  Cluster cluster =
      with({.streams = 1, .loss = 0.0004, .loss_constant = 0.9, .segment_bytes = 1000});
  EXPECT_NEAR(last_end_s(cluster, 1, 1), kLatency + kBytes / kNic_Bps, 1e-12);
  cluster.transport.loss = 0.09;  // three segments
  EXPECT_NEAR(last_end_s(cluster, 1, 1), kLatency + kBytes / (3000 / (2 * kLatency)), 1e-12);
  cluster.transport.streams = 2;
  EXPECT_NEAR(last_end_s(cluster, 1, 1), kLatency + kBytes / (6000 / (2 * kLatency)), 1e-12);
  // The window is below the limit that losses cause.
  cluster.transport.tcp.window_bytes = 2000;
  EXPECT_NEAR(last_end_s(cluster, 1, 1), windowed_s(kBytes, 4000, kLatency), 0.01 * kBytes / 200e6);
}

TEST(Transport, DoesNotAffectMessagesInsideANode) {
  const Transport all{.goodput = 0.5,
                      .node_cap_Bps = 1e6,
                      .connection_cap_Bps = 1e6,
                      .streams = 2,
                      .stream_cap_Bps = 1e6,
                      .tcp = {.window_bytes = 1},
                      .loss = 0.5,
                      .stage_overhead_s = 1,
                      .message_overhead_s = 1,
                      .stream_overhead_s = 1};
  EXPECT_EQ(last_end_s(with(all, 1, 2), 1, 1), last_end_s(with({}, 1, 2), 1, 1));
}

TEST(Transport, SoftwareOverheadIsAddedForEveryStageAndMessage) {
  const Cluster plain = with({}, 8);
  const Cluster busy = with({.stage_overhead_s = 5e-6, .message_overhead_s = 3e-6}, 8);
  EXPECT_NEAR(last_end_s(busy, 3, 1) - last_end_s(plain, 3, 1), 5e-6 + 3 * 3e-6, 1e-12);
  // A message that is not split has no parts.
  const Cluster one = with({.streams = 1, .stream_overhead_s = 2e-6}, 8);
  const Cluster four =
      with({.streams = 4, .message_overhead_s = 3e-6, .stream_overhead_s = 2e-6}, 8);
  EXPECT_EQ(last_end_s(one, 3, 1), last_end_s(plain, 3, 1));
  EXPECT_NEAR(last_end_s(four, 3, 1) - last_end_s(plain, 3, 1), 3 * (3e-6 + 4 * 2e-6), 1e-12);
  const auto ring_s = [](const Cluster& cluster) {
    return latest_end_s(simulate(cluster, [](const Context& ctx) {
      ring_allreduce(ctx, ctx.device->empty(8000), Reduce::sum);
      return ctx.stream->now();
    }));
  };
  EXPECT_NEAR(ring_s(busy) - ring_s(plain), 2 * 7 * (3e-6 + 5e-6), 1e-12);
}

}  // namespace
}  // namespace trigram::test::transport_test
