// Networks in the simulator, compared with formulas that count messages per link.
#include <gtest/gtest.h>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/hierarchy.h"
#include "netmodels/cluster_network.h"
#include "netmodels/network/lower_bound.h"
#include "tests/oracles/closed_forms.h"
#include "tests/oracles/network_formulas.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

namespace trigram::test::topologies_test {
namespace {

constexpr std::size_t kBytes = 1'000'000;
constexpr double kNic_Bps = 1e9, kLatency = 10e-6;

double all_to_all_s(const Cluster& cluster) {
  return latest_end_s(simulate(cluster, [](const Context& c) { return send_to_all(c, kBytes); }));
}

void expect_all_to_all(const Cluster& cluster, double most_loaded_s) {
  EXPECT_NEAR(all_to_all_s(cluster) / (kLatency + most_loaded_s), 1, 1e-6);
}

/// Expects the all-to-all to take, within 2 %, the time that its traffic needs to cross the
/// bisection: the bisection is the bottleneck, and its links are equally loaded.
void expect_bisection_limited(const Cluster& cluster) {
  const double bisection_s = bisection_all_to_all_s(
      cluster.ranks(), kBytes, make_network(cluster)->bisection().bandwidth_Bps);
  EXPECT_NEAR(all_to_all_s(cluster) / bisection_s, 1, 0.02);
}

TEST(AllToAll, OnFatTreesIsLimitedByTheMostLoadedLink) {
  for (const int k : {4, 6})
    for (const double link_Bps : {1e9, 0.25e9}) {
      const Json topology = {{"kind", "fat_tree"}, {"k", k}, {"bandwidth", MBps(link_Bps)}};
      expect_all_to_all(cluster_with_topology(topology, k * k * k / 4),
                        fat_tree_all_to_all_s(k, kBytes, {kNic_Bps, link_Bps}));
    }
}

Cluster tapered(int nodes, int per_leaf, int taper) {
  return cluster_with_topology(
      {{"kind", "fat_tree"}, {"nodes_per_leaf", per_leaf}, {"taper", taper}}, nodes);
}

TEST(AllToAll, OnTaperedFatTreesIsLimitedByTheMostLoadedLink) {
  for (const int taper : {1, 2, 4})
    expect_all_to_all(tapered(32, 8, taper),
                      leaves_all_to_all_s(32, 8, taper, kBytes, {kNic_Bps, kNic_Bps}));
}

TEST(AllToAll, OnTwoTaperedLeavesIsLimitedByTheBisection) {
  expect_bisection_limited(tapered(32, 16, 4));
}

Cluster torus(const std::vector<int>& dimensions, double link_Bps) {
  int nodes = 1;
  for (const int size : dimensions) nodes *= size;
  return cluster_with_topology(
      {{"kind", "torus"}, {"dimensions", dimensions}, {"bandwidth", MBps(link_Bps)}}, nodes);
}

TEST(AllToAll, OnToriIsLimitedByTheMostLoadedLink) {
  for (const std::vector<int>& dimensions :
       std::vector<std::vector<int>>{{8}, {5}, {6}, {4, 4}, {8, 4}, {3, 6}, {2, 3, 4}})
    for (const double link_Bps : {1e9, 0.1e9})
      expect_all_to_all(torus(dimensions, link_Bps),
                        torus_all_to_all_s(dimensions, kBytes, {kNic_Bps, link_Bps}));
}

TEST(AllToAll, OnToriIsLimitedByTheBisection) {
  for (const std::vector<int>& dimensions :
       std::vector<std::vector<int>>{{8, 8}, {8, 4}, {4, 4, 4}})
    expect_bisection_limited(torus(dimensions, 0.2e9));
}

/// A dragonfly with `a` * `h` + 1 groups, the largest number possible.
Cluster dragonfly(int p, int a, int h, double local_Bps, double global_Bps) {
  const int g = a * h + 1;
  return cluster_with_topology({{"kind", "dragonfly"},
                                {"nodes_per_router", p},
                                {"routers_per_group", a},
                                {"global_links_per_router", h},
                                {"groups", g},
                                {"bandwidth", MBps(local_Bps)},
                                {"global_bandwidth", MBps(global_Bps)}},
                               p * a * g);
}

TEST(AllToAll, OnDragonfliesIsLimitedByTheMostLoadedLink) {
  for (const auto& [local_Bps, global_Bps] :
       {std::pair{4e9, 1e9}, {0.5e9, 1e9}, {4e9, 0.2e9}, {4e9, 4e9}})
    expect_all_to_all(dragonfly(2, 4, 2, local_Bps, global_Bps),
                      dragonfly_all_to_all_s(2, 4, 2, kBytes, {kNic_Bps, local_Bps}, global_Bps));
}

TEST(AllToAll, OnDragonfliesIsLimitedByTheBisection) {
  // Six groups: an even number, so the bisection has three whole groups on either side.
  expect_bisection_limited(dragonfly(2, 5, 1, 4e9, 0.2e9));
}

TEST(AllToAll, OnAFlatNetworkIsLimitedByTheNics) {
  expect_all_to_all(cluster_with_topology("flat", 24), 23 * kBytes / kNic_Bps);
}

// Zahavi 2010: the messages of a shift do not share links under D-mod-k routing. An all-to-all
// consists of all shifts at once, so it takes the time of a flat network.
TEST(AllToAll, OnFatTreesIsLimitedByTheNics) {
  constexpr std::size_t kNumel = 100'000;
  for (const int k : {4, 6}) {
    const Cluster cluster = cluster_with_topology({{"kind", "fat_tree"}, {"k", k}}, k * k * k / 4);
    const auto ends = simulate_phantoms(cluster, [](const Context& ctx) {
      const std::vector<Tensor> out(static_cast<std::size_t>(ctx.size()),
                                    ctx.device->empty(kNumel));
      direct_alltoall(ctx, out, out);
      return ctx.stream->now();
    });
    const int others = cluster.ranks() - 1;
    const double copy_s = 8.0 * kNumel / 100e9;  // each rank copies its tensor for itself
    for (const double end : ends)
      EXPECT_NEAR(end, kLatency + others * 4.0 * kNumel / kNic_Bps + copy_s, 1e-9);
  }
}

TEST(AllToAll, OverAHostBridgeIsLimitedByTheBridge) {
  Cluster cluster = cluster_with_topology("flat", 1, 4);
  cluster.intra.kind = IntraKind::pcie;
  EXPECT_NEAR(all_to_all_s(cluster), 1e-6 + 12 * kBytes / 10e9, 1e-9);
  cluster.intra.bridge_Bps = 20e9;
  EXPECT_NEAR(all_to_all_s(cluster), 1e-6 + 12 * kBytes / 20e9, 1e-9);
  cluster.intra.kind = IntraKind::nvlink;
  EXPECT_NEAR(all_to_all_s(cluster), 1e-6 + 3 * kBytes / 10e9, 1e-9);
}

TEST(AllToAll, WorkersOfANodeShareItsNic) {
  Cluster cluster = cluster_with_topology("flat", 2, 3);
  EXPECT_NEAR(all_to_all_s(cluster), kLatency + 9 * kBytes / 1e9, 1e-9);
  cluster.nics = Nics::per_worker;
  EXPECT_NEAR(all_to_all_s(cluster), kLatency + 3 * kBytes / 1e9, 1e-9);
}

class Messages : public ::testing::TestWithParam<NamedCluster> {};

TEST_P(Messages, AloneTakeThePredictedTime) {
  const Cluster& cluster = GetParam().cluster;
  const auto network = make_network(cluster);
  const int last = cluster.ranks() - 1;
  for (const int destination : {last, last / 2}) {
    if (destination == 0) continue;
    const auto ends = simulate(cluster, [&](const Context& ctx) {
      if (ctx.rank() == 0) send_phantom(ctx, destination, kBytes);
      if (ctx.rank() == destination) receive_phantom(ctx, 0, kBytes);
      return ctx.stream->now();
    });
    EXPECT_NEAR(
        ends[static_cast<std::size_t>(destination)] / network->message_time(0, destination, kBytes),
        1, 1e-9);
  }
}

TEST_P(Messages, AreNotBelowTheLowerBound) {
  const Cluster& cluster = GetParam().cluster;
  const auto inside = static_cast<std::uint64_t>(cluster.workers_per_node - 1);
  const auto outside = static_cast<std::uint64_t>(cluster.ranks()) - inside - 1;
  const std::vector<Traffic> sent(static_cast<std::size_t>(cluster.ranks()),
                                  {inside * kBytes, outside * kBytes, inside, outside});
  const double bound_s = lower_bound(*make_network(cluster), sent);
  EXPECT_GE(all_to_all_s(cluster), (1 - 1e-9) * bound_s);
  EXPECT_GE(bound_s, static_cast<double>(outside * kBytes) / kNic_Bps);
}

/// If links of a topology have less bandwidth than NICs, and each node has its own router, the
/// bound takes these links into account.
TEST(LowerBound, CountsTheLinksOfRoutersWithOneNode) {
  const auto bound_s = [](const Json& topology, int nodes) {
    const std::vector<Traffic> sent(static_cast<std::size_t>(nodes), {0, 1'000'000, 0, 1});
    return lower_bound(*make_network(cluster_with_topology(topology, nodes)), sent);
  };
  const auto torus = [](std::vector<int> dimensions) {
    return Json{{"kind", "torus"},
                {"dimensions", dimensions},
                {"bandwidth", "0.1GB/s"},
                {"latency", "1us"}};
  };
  // Each router has two links out in a ring, four in a torus, one in a ring of two.
  EXPECT_NEAR(bound_s(torus({6}), 6), kLatency + 1e-6 + 1e6 / 0.2e9, 1e-12);
  EXPECT_NEAR(bound_s(torus({3, 4}), 12), kLatency + 1e-6 + 1e6 / 0.4e9, 1e-12);
  EXPECT_NEAR(bound_s(torus({2}), 2), kLatency + 1e-6 + 1e6 / 0.1e9, 1e-12);
  // With four nodes per leaf, some of the traffic may stay inside the leaf, so the uplinks give no
  // bound; only the NICs do.
  EXPECT_NEAR(bound_s({{"kind", "fat_tree"}, {"nodes_per_leaf", 4}, {"bandwidth", "0.1GB/s"}}, 8),
              kLatency + 1e6 / kNic_Bps, 1e-12);
  // One message to the next router takes exactly the bound.
  const Cluster ring = cluster_with_topology(torus({2}), 2);
  const auto ends = simulate(ring, [](const Context& ctx) {
    message_from_0_to_1(ctx, 1'000'000);
    return ctx.stream->now();
  });
  EXPECT_NEAR(ends.at(1), kLatency + 1e-6 + 1e6 / 0.1e9, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Small, Messages, ::testing::ValuesIn(small_networks()), TestName{});

/// The time of an allreduce by a binomial reduction inside each node, a ring between the leaders,
/// and a binomial broadcast inside each node.
double hierarchical_allreduce_s(const Cluster& cluster, std::size_t n) {
  return latest_end_s(simulate(cluster, [n](const Context& ctx) {
    const auto exchange =
        hierarchical([](Context c, const Tensor& x, Slot) { ring_allreduce(c, x, Reduce::avg); });
    return time_on_phantom(ctx, n, [&](Context c, const Tensor& x) { exchange(c, x, {}); });
  }));
}

struct Parts {
  double inside_s, between_s;
};

Parts parts_s(const Cluster& cluster, std::size_t n) {
  const auto workers = static_cast<int>(cluster.workers_per_node);
  const auto nodes = static_cast<int>(cluster.nodes);
  const CostModel intra{.alpha_s = 1e-6,
                        .beta_s = 1 / cluster.intra.bandwidth_Bps,
                        .memory_s = 1 / 100e9,
                        .flop_s = 1e-12};
  CostModel inter = intra;
  inter.alpha_s = kLatency;
  inter.beta_s = 1 / kNic_Bps;
  return {binomial_reduce_s(intra, workers, n, true) + binomial_broadcast_s(intra, workers, n),
          ring_allreduce_s(inter, nodes, n, true)};
}

TEST(HierarchicalAllreduce, TakesTheTimeInsideNodesPlusTheTimeBetweenThem) {
  for (const auto& [nodes, workers] : {std::pair{4, 4}, {16, 8}, {5, 2}, {3, 1}})
    for (const std::size_t n : {1000UL, 250'000UL, 25'000'000UL}) {
      const Cluster cluster = cluster_with_topology("flat", nodes, workers);
      const Parts parts = parts_s(cluster, n);
      EXPECT_NEAR(hierarchical_allreduce_s(cluster, n) / (parts.inside_s + parts.between_s), 1,
                  0.01)
          << nodes << " x " << workers << ", " << n;
    }
}

/// The stage inside nodes may be the bottleneck, with NVLink ports as well as with a host bridge.
/// The messages of a round of the tree share the bandwidth of the bridge.
TEST(HierarchicalAllreduce, MayBeLimitedInsideNodes) {
  constexpr int kWorkers = 4, kRounds = 2;
  constexpr std::size_t n = 1'000'000;
  for (const double Bps : {0.2e9, 0.4e9}) {
    Cluster cluster = cluster_with_topology("flat", 4, kWorkers);
    cluster.intra.bandwidth_Bps = Bps;
    const Parts parts = parts_s(cluster, n);
    EXPECT_GT(parts.inside_s, 2 * parts.between_s);
    EXPECT_NEAR(hierarchical_allreduce_s(cluster, n) / (parts.inside_s + parts.between_s), 1, 0.01);
    cluster.intra.kind = IntraKind::pcie;
    // The bridge delays only the reduction: in the broadcast, the root's two messages already share
    // the bandwidth of its port, which equals that of the bridge.
    const double more_s = (kWorkers - 1 - kRounds) * 4.0 * n / Bps;
    EXPECT_NEAR(hierarchical_allreduce_s(cluster, n) / (parts.inside_s + more_s + parts.between_s),
                1, 0.01);
  }
}

}  // namespace
}  // namespace trigram::test::topologies_test
