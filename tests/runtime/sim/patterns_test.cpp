// Traffic patterns that networks carry less efficiently than rings, in the simulator.
#include <gtest/gtest.h>

#include <functional>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/primitives/primitives.h"
#include "core/device/null_device.h"
#include "core/subset.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

namespace trigram::test::patterns_test {
namespace {

constexpr int kNodes = 4;
constexpr double kNic_Bps = 1e9, kLatency = 10e-6;  // as in cluster_with_topology
constexpr double kBytes = 4e6;

Cluster with(const Efficiency& efficiency, int workers = 1) {
  Cluster cluster = cluster_with_topology("flat", kNodes, workers);
  cluster.transport.efficiency = efficiency;
  return cluster;
}

double last_end_s(const Cluster& cluster, const std::function<void(const Context&)>& body) {
  NullDevice phantoms;  // operations on this device take no time
  return latest_end_s(simulate(cluster, [&](Context ctx) {
    ctx.device = &phantoms;
    body(ctx);
    return ctx.stream->now();
  }));
}

Tensor floats(double bytes) {
  const auto numel = static_cast<std::size_t>(bytes / sizeof(float));
  return Tensor::phantom(numel, DType::f32, numel);
}

void all_to_all(const Context& ctx) {
  const std::vector<Tensor> out(static_cast<std::size_t>(ctx.size()), floats(kBytes)), in = out;
  direct_alltoall(ctx, out, in);
}
void with_neighbours(const Context& ctx) {
  const int P = ctx.size(), right = (ctx.rank() + 1) % P, left = (ctx.rank() + P - 1) % P;
  exchange_with(ctx, floats(kBytes),
                Peers{.self_weight = 0.5f, .receive_from = {{left, 0.5f}}, .send_to = {right}});
}
void ring(const Context& ctx) { ring_allreduce(ctx, floats(kBytes), Reduce::sum); }

TEST(Patterns, ReachTheirFractionOfTheBandwidth) {
  const double sent_s = (kNodes - 1) * kBytes / kNic_Bps;
  EXPECT_NEAR(last_end_s(with({}), all_to_all), kLatency + sent_s, 1e-12);
  EXPECT_NEAR(last_end_s(with({.all_to_all = 0.5}), all_to_all), kLatency + sent_s / 0.5, 1e-12);
  EXPECT_NEAR(last_end_s(with({.point_to_point = 0.8}), with_neighbours),
              kLatency + kBytes / (0.8 * kNic_Bps), 1e-12);
}

TEST(Patterns, DoNotAffectOtherPatterns) {
  const Efficiency poor{.leaders = 0.1, .all_to_all = 0.1, .point_to_point = 0.1, .server = 0.1};
  EXPECT_EQ(last_end_s(with(poor), ring), last_end_s(with({}), ring));
  EXPECT_EQ(last_end_s(with({.all_to_all = 1, .point_to_point = 0.1, .server = 0.1}), all_to_all),
            last_end_s(with({}), all_to_all));
  EXPECT_EQ(last_end_s(with({.all_to_all = 0.1, .server = 0.1}), with_neighbours),
            last_end_s(with({}), with_neighbours));
}

TEST(Patterns, AreKeptBySubsets) {
  const std::vector<int> odd = {1, 3};
  const auto among = [&](const Context& ctx) {
    if (ctx.rank() % 2 == 0) return;
    Subset subset(*ctx.comm, odd);
    all_to_all(ctx.with(subset));
  };
  EXPECT_NEAR(last_end_s(with({.all_to_all = 0.25}), among), kLatency + kBytes / (0.25 * kNic_Bps),
              1e-12);
}

/// The leaders of nodes of two workers. Their rings become slower, but the ring of all workers does
/// not.
TEST(Patterns, OfLeadersAffectHierarchiesOnly) {
  const Exchange exchange = [](Context ctx, const Tensor& x, Slot) {
    ring_allreduce(ctx, x, Reduce::avg);
  };
  const auto in_hierarchy = [&](const Context& ctx) {
    hierarchical(exchange)(ctx, floats(kBytes), {});
  };
  constexpr double kPoor = 0.5;
  const Cluster plain = with({}, 2), poor = with({.leaders = kPoor}, 2);
  const double rounds = 2 * (kNodes - 1), sent_s = rounds / kNodes * kBytes / kNic_Bps;
  EXPECT_NEAR(last_end_s(poor, in_hierarchy) - last_end_s(plain, in_hierarchy),
              sent_s / kPoor - sent_s, 1e-12);
  EXPECT_EQ(last_end_s(poor, ring), last_end_s(plain, ring));
  // If every node has one worker, there is no hierarchy.
  EXPECT_EQ(last_end_s(with({.leaders = kPoor}), in_hierarchy), last_end_s(with({}), in_hierarchy));
}

/// The hierarchy takes as long by flows as by messages.
TEST(Patterns, OfLeadersAreTheSameAsFlows) {
  for (const bool hierarchical : {false, true}) {
    const auto step_s = [&](double leaders, SimOptions::Fidelity fidelity) {
      Training training;
      training.algorithm = {{"name", "gradient_allreduce"}, {"hierarchical", hierarchical}};
      training.workload = "profile:" TRIGRAM_TEST_DATA "/tiny_profile.csv";
      training.cluster = with({.leaders = leaders}, 2);
      training.cluster.inter.bandwidth_Bps = 0.01e9;
      training.sim.fidelity = fidelity;
      return train(training).seconds();
    };
    const double by_messages_s = step_s(0.5, SimOptions::Fidelity::message);
    EXPECT_NEAR(step_s(0.5, SimOptions::Fidelity::fluid), by_messages_s, 0.01 * by_messages_s);
    EXPECT_EQ(by_messages_s > 1.3 * step_s(1, SimOptions::Fidelity::message), hierarchical);
  }
}

TEST(Patterns, DoNotAffectMessagesInsideNodes) {
  const auto inside = [](const Context& ctx) {
    const std::vector<int> node = {ctx.rank() / 2 * 2, ctx.rank() / 2 * 2 + 1};
    Subset subset(*ctx.comm, node);
    all_to_all(ctx.with(subset));
  };
  EXPECT_EQ(last_end_s(with({.all_to_all = 0.25}, 2), inside), last_end_s(with({}, 2), inside));
}

/// Each pattern slows certain algorithms; the counted traffic does not change.
TEST(Patterns, SlowTheAlgorithmsThatUseThem) {
  const auto run = [](const char* algorithm, const Efficiency& efficiency) {
    Training training;
    training.algorithm = Json{{"name", algorithm}};
    training.workload = "profile:" TRIGRAM_TEST_DATA "/tiny_profile.csv";
    training.cluster = small_cluster(4);
    training.cluster.inter.bandwidth_Bps = 0.01e9;
    training.cluster.transport.efficiency = efficiency;
    return train(training);
  };
  const Efficiency all_to_all{.all_to_all = 0.5}, peers{.point_to_point = 0.5},
      servers{.server = 0.5};
  struct Expected {
    const char* algorithm;
    bool all_to_all, peers, servers;
  };
  for (const Expected& e :
       {Expected{"gradient_allreduce", false, false, false},
        Expected{"bytegrad", true, false, false}, Expected{"qsgd", true, false, false},
        Expected{"dpsgd", false, true, false}, Expected{"adpsgd", false, true, false},
        Expected{"parameter_server", false, false, true},
        Expected{"async_parameter_server", false, false, true}, Expected{"ssp", false, false, true},
        Expected{"async_diloco", false, false, true}}) {
    const Trained plain = run(e.algorithm, {});
    const auto slower = [&](const Efficiency& efficiency) {
      const Trained less = run(e.algorithm, efficiency);
      for (std::size_t r = 0; r < plain.counters.size(); ++r)
        EXPECT_EQ(less.counters[r].bytes_inter, plain.counters[r].bytes_inter) << e.algorithm;
      return less.seconds() > plain.seconds();
    };
    EXPECT_EQ(slower(all_to_all), e.all_to_all) << e.algorithm;
    EXPECT_EQ(slower(peers), e.peers) << e.algorithm;
    EXPECT_EQ(slower(servers), e.servers) << e.algorithm;
  }
}

}  // namespace
}  // namespace trigram::test::patterns_test
