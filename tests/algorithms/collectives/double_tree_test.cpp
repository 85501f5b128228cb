#include "algorithms/collectives/double_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "algorithms/collectives/collectives.h"
#include "core/metering/meter.h"
#include "runtime/sim/sim_runtime.h"
#include "tests/oracles/closed_forms.h"
#include "tests/oracles/double_tree.h"
#include "tests/oracles/volume.h"
#include "tests/support/collective_timing.h"
#include "tests/support/simulate.h"

// The shape of double binary trees, the messages that ranks send over them, and their duration.

namespace trigram::test::double_tree_test {
namespace {

TEST(DoubleTrees, FollowTheirDescription) {
  for (int nodes = 1; nodes <= 70; ++nodes)
    for (const int tree : {0, 1}) {
      const auto parents = double_tree_parents(tree, nodes);
      for (int v = 0; v < nodes; ++v) {
        const TreeNode node = double_tree_node(tree, v, nodes);
        EXPECT_EQ(node.parent, parents[static_cast<std::size_t>(v)]) << v << " of " << nodes;
        std::vector<int> children = node.children, expected;
        for (int child = 0; child < nodes; ++child)
          if (parents[static_cast<std::size_t>(child)] == v) expected.push_back(child);
        std::sort(children.begin(), children.end());
        EXPECT_EQ(children, expected) << v << " of " << nodes;
        EXPECT_LE(children.size(), 2u);
      }
    }
}

TEST(DoubleTrees, HaveEveryNodeAsALeafOnceExceptNodeZeroOfAnOddNumber) {
  for (int nodes = 2; nodes <= 70; ++nodes)
    for (int v = 0; v < nodes; ++v) {
      const bool leaf0 = double_tree_node(0, v, nodes).children.empty();
      const bool leaf1 = double_tree_node(1, v, nodes).children.empty();
      EXPECT_NE(leaf0, leaf1 || (v == 0 && nodes % 2 == 1)) << v << " of " << nodes;
      EXPECT_FALSE(leaf0 && leaf1);
    }
}

TEST(DoubleTrees, TakeLongerChunksOfLongerVectors) {
  constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;
  EXPECT_EQ(double_tree_chunk_bytes(100 * kMiB, 16, 8), 512 * kKiB);  // 100 chunks, 11 levels
  EXPECT_EQ(double_tree_chunk_bytes(50 * kMiB, 16, 8), 256 * kKiB);   // 50, then 100
  EXPECT_EQ(double_tree_chunk_bytes(11 * kMiB, 16, 8), 128 * kKiB);   // 44 chunks: 4 for each level
  EXPECT_EQ(double_tree_chunk_bytes(10 * kMiB, 16, 8), 64 * kKiB);
  EXPECT_EQ(double_tree_chunk_bytes(kMiB, 16, 8), 32 * kKiB);
  EXPECT_EQ(double_tree_chunk_bytes(4 * kMiB, 2, 1), 256 * kKiB);
  for (const std::size_t nbytes :
       {std::size_t{0}, kMiB, 3 * kMiB, 10 * kMiB, 64 * kMiB, 640 * kMiB})
    for (const int nodes : {1, 2, 5, 16, 64})
      for (const int workers : {2, 8}) {
        const std::size_t chunk = double_tree_chunk_bytes(nbytes, nodes, workers);
        const std::size_t half = 4 * ((nbytes / 4 + 1) / 2);
        EXPECT_EQ(std::max<std::size_t>((half + chunk - 1) / chunk, 1),
                  double_tree_chunks(nbytes, nodes, workers));
      }
}

constexpr std::size_t kChunkBytes = 4000;

/// The number of chunks of each tree for n elements.
std::size_t chunks(std::size_t n) {
  return std::max<std::size_t>((4 * ((n + 1) / 2) + kChunkBytes - 1) / kChunkBytes, 1);
}

/// Schedules, each with a network on which they can run. If messages of eager connections use the
/// same port, they take turns in the closed form, and share the port in the simulator.
struct Case {
  const char* name;
  Transport::Protocol protocol;
  std::int64_t ahead;
  double tolerance;
};
const Case kCases[] = {
    {"rendezvous", Transport::Protocol::rendezvous, 0, 1e-9},
    {"eager in step", Transport::Protocol::eager, 0, 1e-5},
    {"eager, 3 ahead", Transport::Protocol::eager, 3, 1e-9},
    {"eager, all ahead", Transport::Protocol::eager, 1'000'000, 1e-9},
};

/// With rendezvous messages, a batch ends when its sent messages have arrived.
double expected_s(const CostModel& costs, int ranks, std::size_t n, const Case& c) {
  const bool eager = c.protocol == Transport::Protocol::eager;
  return double_tree_allreduce_s(
      costs, ranks, n, true, chunks(n),
      {.ahead = c.ahead, .eager = eager, .waits_sent = !eager, .in_order = eager});
}

class DoubleTreeTimes : public ::testing::TestWithParam<int> {};

TEST_P(DoubleTreeTimes, EqualTheClosedForms) {
  for (const CostModel& costs : {free_reductions(), charged_reductions()})
    for (const Case& c : kCases) {
      SCOPED_TRACE(c.name);
      const std::vector<std::size_t> lengths = {0, 1, 2, 1000, 20'003};
      const TimedCollective collective = {"double_tree",
                                          [&](Context ctx, std::size_t n) {
                                            double_tree_allreduce(
                                                ctx, ctx.device->empty(n), Reduce::avg,
                                                {.chunk_bytes = kChunkBytes, .ahead = c.ahead});
                                          },
                                          [&](const CostModel& model, int ranks, std::size_t n) {
                                            return expected_s(model, ranks, n, c);
                                          }};
      expect_closed_forms({collective}, costs, GetParam(), lengths, c.tolerance, {},
                          {.protocol = c.protocol});
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, DoubleTreeTimes, ::testing::Values(2, 3, 4, 5, 7, 8, 13, 16),
                         ::testing::PrintToStringParamName());

/// Connections that buffer all messages, and carry them in order.
const TreeTransport kBuffered = {.ahead = 1'000'000, .eager = true, .in_order = true};

/// The seconds that an allreduce of empty messages takes.
double empty_s(int ranks, std::size_t chunks, const TreeTransport& transport) {
  return double_tree_allreduce_s(free_reductions(), ranks, 0, true, chunks, transport);
}

TEST(DoubleTreeForms, CountLatencies) {
  const double a = free_reductions().alpha_s;
  for (const int ranks : {2, 3, 4, 7, 8, 9, 16, 31})
    for (const std::size_t chunks : {1, 2, 10}) {
      const int h = ceil_log2(ranks), C = static_cast<int>(chunks);
      EXPECT_NEAR(empty_s(ranks, chunks, {.waits_sent = true}) / a, C + 2 * h - 1, 1e-9) << ranks;
      EXPECT_NEAR(empty_s(ranks, chunks, kBuffered) / a, 2 * h, 1e-9) << ranks;
    }
}

/// Every rank sends the vector up and down once. If ranks run in step, the duration is the time of
/// a port plus the time of the chunks of one level. If ranks run ahead, it is up to a third more.
TEST(DoubleTreeForms, CountBytes) {
  CostModel costs = free_reductions();
  costs.alpha_s = 0;
  const std::size_t n = 1 << 20, chunks = 64;
  for (const int ranks : {4, 8, 9, 16}) {
    const double h = ceil_log2(ranks), all_s = 2 * 4.0 * static_cast<double>(n) * costs.beta_s;
    const auto share = [&](const TreeTransport& transport) {
      return double_tree_allreduce_s(costs, ranks, n, true, chunks, transport) / all_s;
    };
    EXPECT_GE(share({}), 1 - 1e-9) << ranks;
    EXPECT_LE(share({}), 1 + 2 * h / static_cast<double>(chunks)) << ranks;
    EXPECT_GE(share(kBuffered), 1 - 1e-9) << ranks;
    EXPECT_LE(share(kBuffered), 4.0 / 3) << ranks;
  }
}

/// With buffers, running ahead hides latency: chunks follow one another.
TEST(DoubleTreeForms, RunningAheadHidesLatency) {
  CostModel costs = free_reductions();
  costs.alpha_s = 1e-3;
  const std::size_t n = 1 << 20;
  const int levels = 4;
  const auto allreduce_s = [&](std::int64_t ahead) {
    return double_tree_allreduce_s(costs, 16, n, true, 40,
                                   {.ahead = ahead, .eager = true, .in_order = true});
  };
  EXPECT_GT(allreduce_s(0), 40e-3);
  for (const std::int64_t ahead : {1, 3, 7}) EXPECT_LT(allreduce_s(ahead), allreduce_s(ahead / 2));
  EXPECT_NEAR(allreduce_s(1'000'000), 2 * levels * 1e-3, 1e-3);
}

struct Volume {
  int nodes, workers;
};

class DoubleTreeVolume : public ::testing::TestWithParam<Volume> {};

TEST_P(DoubleTreeVolume, IsHalfTheVectorOverEveryEdgeOfATree) {
  const auto [nodes, workers] = GetParam();
  const Cluster cluster = round_cluster(nodes, workers);
  const std::size_t n = 10'007;
  Traffic traffic(cluster.layout());
  add_double_tree(traffic, all_ranks(cluster.layout()), n, static_cast<std::size_t>(workers),
                  chunks(n));
  for (const std::int64_t ahead : {0, 5}) {
    const auto end_s = simulate(cluster, [&](const Context& raw) {
      auto meter = instrument(raw, {.phantom = true, .sink = {}});
      const Context ctx = meter->context();
      double_tree_allreduce(ctx, ctx.device->empty(n), Reduce::sum,
                            {.chunk_bytes = kChunkBytes, .ahead = ahead});
      const Counters sent = meter->counters();
      const Sent& expected = traffic.sent_by(ctx.rank());
      EXPECT_EQ(sent.bytes_intra, expected.bytes_intra);
      EXPECT_EQ(sent.bytes_inter, expected.bytes_inter);
      EXPECT_EQ(sent.messages_intra, expected.messages_intra);
      EXPECT_EQ(sent.messages_inter, expected.messages_inter);
      return ctx.stream->now();
    });
    EXPECT_EQ(end_s.size(), static_cast<std::size_t>(cluster.ranks()));
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, DoubleTreeVolume,
                         ::testing::Values(Volume{1, 1}, Volume{1, 4}, Volume{2, 1}, Volume{3, 2},
                                           Volume{4, 4}, Volume{7, 1}, Volume{5, 3}),
                         [](const auto& parameters) {
                           return std::to_string(parameters.param.nodes) + "x" +
                                  std::to_string(parameters.param.workers);
                         });

/// `ahead` changes when messages leave, not the order of additions.
TEST(DoubleTreeSums, DoNotDependOnWhenMessagesLeave) {
  const auto sums = [](const Cluster& cluster, std::int64_t ahead) {
    return simulate(cluster, [&](const Context& ctx) {
      const Tensor x = ctx.device->empty(1003);
      std::vector<float> values(1003);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1e-3f * static_cast<float>((31 * i + 17 * std::size_t(ctx.rank())) % 1021) / 7;
      ctx.device->upload(x, std::as_bytes(std::span(values)));
      double_tree_allreduce(ctx, x, Reduce::avg, {.chunk_bytes = 400, .ahead = ahead});
      double hash = 0;
      for (const float value : ctx.device->download(x)) hash = 0.5 * hash + double{value};
      return hash;
    });
  };
  for (const Cluster& cluster : {round_cluster(7), round_cluster(5, 3)}) {
    const auto in_step = sums(cluster, 0);
    for (const double rank : in_step) EXPECT_EQ(rank, in_step[0]);
    for (const std::int64_t ahead : {1, 4, 1'000'000}) EXPECT_EQ(sums(cluster, ahead), in_step);
  }
}

/// The choice depends on the cluster's description and on priced lengths. The last of 16 nodes is a
/// leaf in one tree, and the root, with one child, of the other; 500 kB are 8 chunks of 64 KiB.
TEST(NcclAllreduce, ChoosesARingOrATree) {
  const auto messages_of_last = [](double bandwidth_Bps, const NcclOptions& options) {
    Cluster cluster = round_cluster(16);
    cluster.inter.bandwidth_Bps = bandwidth_Bps;
    const std::size_t n = 250'000;
    return simulate(cluster, [&](const Context& raw) {
      auto meter = instrument(raw, {.phantom = true, .sink = {}});
      const Context ctx = meter->context();
      allreduce(ctx, ctx.device->empty(n), Reduce::sum, options);
      return static_cast<double>(meter->counters().messages_inter);
    })[15];
  };
  const double ring = 2 * 15, tree = 2 * 8;
  EXPECT_EQ(messages_of_last(1e9, {}), ring);
  EXPECT_EQ(messages_of_last(25e9, {}), tree);
  EXPECT_EQ(messages_of_last(1e9, {.nic_Bps = 25e9}), tree) << "nic_Bps overrides the cluster";
}

}  // namespace
}  // namespace trigram::test::double_tree_test
