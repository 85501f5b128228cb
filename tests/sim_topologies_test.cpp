// Networks in the simulator, against formulas that count messages per link.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/execution.h"
#include "core/metering/meter.h"
#include "netmodels/cluster_network.h"
#include "tests/oracles/closed_forms.h"
#include "tests/oracles/network_formulas.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

namespace trigram::test {
namespace {

constexpr std::size_t kBytes = 1'000'000;
constexpr double kNic_Bps = 1e9, kLatency = 10e-6;

/// Everyone sends `kBytes` to everyone else, all at once; returns the time at the end.
double all_at_once(const Context& ctx) {
  std::vector<Transfer> batch;
  for (int peer = 0; peer < ctx.size(); ++peer) {
    if (peer == ctx.rank()) continue;
    batch.push_back({Transfer::recv, phantom_bytes(kBytes), peer});
    batch.push_back({Transfer::send, phantom_bytes(kBytes), peer});
  }
  ctx.comm->transfer(batch);
  return ctx.stream->now();
}

double all_to_all_s(const Cluster& cluster) {
  const auto ends = simulate(cluster, all_at_once);
  return ends.empty() ? -1 : *std::max_element(ends.begin(), ends.end());
}

/// `collective` on a phantom of n floats, with phantoms for scratch; returns the time at the end.
double on_phantom(const Context& raw, std::size_t n,
                  const std::function<void(Context, const Tensor&)>& collective) {
  const auto meter = instrument(raw, {.phantom = true, .sink = {}});
  const Context ctx = meter->context();
  collective(ctx, ctx.device->empty(n));
  return ctx.stream->now();
}

std::string MBps(double Bps) { return std::to_string(Bps / 1e6) + "MB/s"; }

void expect_all_to_all(const Cluster& cluster, double most_loaded_s) {
  EXPECT_NEAR(all_to_all_s(cluster) / (kLatency + most_loaded_s), 1, 1e-6);
}

/// Within 2 % of what the bisection takes: traffic is balanced over it, and it is the bottleneck.
void expect_bisection_limited(const Cluster& cluster) {
  const double bisection_s = bisection_all_to_all_s(
      cluster.ranks(), kBytes, make_network(cluster)->bisection().bandwidth_Bps);
  EXPECT_NEAR(all_to_all_s(cluster) / bisection_s, 1, 0.02);
}

TEST(AllToAll, OnFatTreesTakesTheMostLoadedLink) {
  for (const int k : {4, 6})
    for (const double link_Bps : {1e9, 0.25e9}) {
      const Json topology = {{"kind", "fat_tree"}, {"k", k}, {"bandwidth", MBps(link_Bps)}};
      expect_all_to_all(joined_by(topology, k * k * k / 4),
                        fat_tree_all_to_all_s(k, kBytes, {kNic_Bps, link_Bps}));
    }
}

Cluster tapered(int nodes, int per_leaf, int taper) {
  return joined_by({{"kind", "fat_tree"}, {"nodes_per_leaf", per_leaf}, {"taper", taper}}, nodes);
}

TEST(AllToAll, OnTaperedFatTreesTakesTheMostLoadedLink) {
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
  return joined_by({{"kind", "torus"}, {"dimensions", dimensions}, {"bandwidth", MBps(link_Bps)}},
                   nodes);
}

TEST(AllToAll, OnToriTakesTheMostLoadedLink) {
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

/// With a h + 1 groups.
Cluster dragonfly(int p, int a, int h, double local_Bps, double global_Bps) {
  const int g = a * h + 1;
  return joined_by({{"kind", "dragonfly"},
                    {"nodes_per_router", p},
                    {"routers_per_group", a},
                    {"global_links_per_router", h},
                    {"groups", g},
                    {"bandwidth", MBps(local_Bps)},
                    {"global_bandwidth", MBps(global_Bps)}},
                   p * a * g);
}

TEST(AllToAll, OnDragonfliesTakesTheMostLoadedLink) {
  for (const auto& [local_Bps, global_Bps] :
       {std::pair{4e9, 1e9}, {0.5e9, 1e9}, {4e9, 0.2e9}, {4e9, 4e9}})
    expect_all_to_all(dragonfly(2, 4, 2, local_Bps, global_Bps),
                      dragonfly_all_to_all_s(2, 4, 2, kBytes, {kNic_Bps, local_Bps}, global_Bps));
}

TEST(AllToAll, OnDragonfliesIsLimitedByTheBisection) {
  // An even number of groups: six of them.
  expect_bisection_limited(dragonfly(2, 5, 1, 4e9, 0.2e9));
}

TEST(AllToAll, OnAFlatNetworkTakesTheNics) {
  expect_all_to_all(joined_by("flat", 24), 23 * kBytes / kNic_Bps);
}

// Zahavi 2010: shifts do not collide under D-mod-k, so that rounds of them take the time of a flat
// network.
TEST(AllToAll, InRoundsOnFatTreesIsFreeOfContention) {
  constexpr std::size_t kNumel = 100'000;
  for (const int k : {4, 6}) {
    const Cluster cluster = joined_by({{"kind", "fat_tree"}, {"k", k}}, k * k * k / 4);
    const auto ends = simulate(cluster, [](const Context& raw) {
      const auto meter = instrument(raw, {.phantom = true, .sink = {}});
      const Context ctx = meter->context();
      const std::vector<Tensor> out(static_cast<std::size_t>(ctx.size()),
                                    ctx.device->empty(kNumel));
      pairwise_alltoall(ctx, out, out);
      return ctx.stream->now();
    });
    const int others = cluster.ranks() - 1;
    const double round_s = kLatency + 4.0 * kNumel / kNic_Bps;
    const double copy_s = 8.0 * kNumel / 100e9;  // of the own tensor
    for (const double end : ends) EXPECT_NEAR(end / (others * round_s + copy_s), 1, 1e-9);
  }
}

TEST(AllToAll, OverAHostBridgeTakesTheBridge) {
  Cluster cluster = joined_by("flat", 1, 4);
  cluster.intra.kind = IntraKind::pcie;
  EXPECT_NEAR(all_to_all_s(cluster), 1e-6 + 12 * kBytes / 10e9, 1e-9);
  cluster.intra.bridge_Bps = 20e9;
  EXPECT_NEAR(all_to_all_s(cluster), 1e-6 + 12 * kBytes / 20e9, 1e-9);
  cluster.intra.kind = IntraKind::nvlink;
  EXPECT_NEAR(all_to_all_s(cluster), 1e-6 + 3 * kBytes / 10e9, 1e-9);
}

TEST(AllToAll, TakesAShareOfANicForEachOfItsWorkers) {
  Cluster cluster = joined_by("flat", 2, 3);
  EXPECT_NEAR(all_to_all_s(cluster), kLatency + 9 * kBytes / 1e9, 1e-9);
  cluster.nics = Nics::per_worker;
  EXPECT_NEAR(all_to_all_s(cluster), kLatency + 3 * kBytes / 1e9, 1e-9);
}

class OneMessage : public ::testing::TestWithParam<NamedCluster> {};

TEST_P(OneMessage, TakesWhatTheDescriptionSays) {
  const Cluster& cluster = GetParam().cluster;
  const auto network = make_network(cluster);
  const int last = cluster.ranks() - 1;
  for (const int destination : {last, last / 2}) {
    if (destination == 0) continue;
    const auto ends = simulate(cluster, [&](const Context& ctx) {
      std::vector<Transfer> batch;
      if (ctx.rank() == 0) batch.push_back({Transfer::send, phantom_bytes(kBytes), destination});
      if (ctx.rank() == destination) batch.push_back({Transfer::recv, phantom_bytes(kBytes), 0});
      ctx.comm->transfer(batch);
      return ctx.stream->now();
    });
    EXPECT_NEAR(ends[0] / network->message_time(0, destination, kBytes), 1, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Small, OneMessage, ::testing::ValuesIn(small_networks()), TestName{});

// Averaged inside the node by a binomial tree, between leaders by a ring, sent back down the tree.
TEST(HierarchicalAllreduce, TakesTheSumOfItsThreeParts) {
  for (const auto& [nodes, workers] : {std::pair{4, 4}, {16, 8}, {5, 2}, {3, 1}})
    for (const std::size_t n : {1000UL, 250'000UL, 25'000'000UL}) {
      const Cluster cluster = joined_by("flat", nodes, workers);
      const CostModel intra{
          .alpha_s = 1e-6, .beta_s = 1 / 10e9, .memory_s = 1 / 100e9, .flop_s = 1e-12};
      CostModel inter = intra;
      inter.alpha_s = kLatency;
      inter.beta_s = 1 / kNic_Bps;
      const double expected_s = binomial_reduce_s(intra, workers, n, true) +
                                ring_allreduce_s(inter, nodes, n, true) +
                                binomial_broadcast_s(intra, workers, n);
      const auto ends = simulate(cluster, [n = n](const Context& ctx) {
        const auto exchange = hierarchical(
            [](Context c, const Tensor& x, Slot) { ring_allreduce(c, x, Reduce::avg); });
        return on_phantom(ctx, n, [&](Context c, const Tensor& x) { exchange(c, x, {}); });
      });
      ASSERT_FALSE(ends.empty());
      EXPECT_NEAR(*std::max_element(ends.begin(), ends.end()) / expected_s, 1, 0.01)
          << nodes << " x " << workers << ", " << n;
    }
}

/// A topology and what makes it slower.
struct Knob {
  std::string name;
  Json topology;
  int nodes;
  std::function<void(Json& topology)> turn;
};

void PrintTo(const Knob& knob, std::ostream* out) { *out << knob.name; }

void halve(Json& Bps) {
  Bps = MBps(parse_quantity(Bps.get<std::string>(), Dimension::bandwidth) / 2);
}

std::vector<Knob> knobs() {
  const Json dragonfly = {
      {"kind", "dragonfly"},          {"nodes_per_router", 2}, {"routers_per_group", 3},
      {"global_links_per_router", 1}, {"groups", 4},           {"bandwidth", "300MB/s"},
      {"global_bandwidth", "300MB/s"}};
  const Json mesh = {{"kind", "hammingmesh"},
                     {"board", {2, 2}},
                     {"boards", {2, 2}},
                     {"bandwidth", "300MB/s"},
                     {"tree_bandwidth", "300MB/s"}};
  const Json tree = {{"kind", "fat_tree"}, {"k", 4}, {"bandwidth", "300MB/s"}};
  const Json leaves = {{"kind", "fat_tree"}, {"nodes_per_leaf", 4}, {"bandwidth", "300MB/s"}};
  const Json torus = {{"kind", "torus"}, {"dimensions", {4, 3}}, {"bandwidth", "300MB/s"}};
  const auto set = [](const char* key, Json value) {
    return [key, value](Json& topology) { topology[key] = value; };
  };
  const auto each = [](const char* matrix, const std::function<void(Json&)>& change) {
    return [matrix, change](Json& topology) {
      for (Json& row : topology[matrix])
        for (Json& entry : row)
          if (!entry.is_null()) change(entry);
    };
  };
  return {
      {"fat_tree_bandwidth", tree, 16, set("bandwidth", "150MB/s")},
      {"fat_tree_latency", tree, 16, set("latency", "1ms")},
      {"leaves_bandwidth", leaves, 16, set("bandwidth", "150MB/s")},
      {"leaves_taper", leaves, 16, set("taper", 4)},
      {"torus_bandwidth", torus, 12, set("bandwidth", "150MB/s")},
      {"torus_latency", torus, 12, set("latency", "1ms")},
      {"dragonfly_bandwidth", dragonfly, 24, set("bandwidth", "100MB/s")},
      {"dragonfly_latency", dragonfly, 24, set("latency", "1ms")},
      {"dragonfly_global_bandwidth", dragonfly, 24, set("global_bandwidth", "150MB/s")},
      {"dragonfly_global_latency", dragonfly, 24, set("global_latency", "1ms")},
      {"hammingmesh_bandwidth", mesh, 16, set("bandwidth", "100MB/s")},
      {"hammingmesh_latency", mesh, 16, set("latency", "1ms")},
      {"hammingmesh_tree_bandwidth", mesh, 16, set("tree_bandwidth", "150MB/s")},
      {"hammingmesh_tree_latency", mesh, 16, set("tree_latency", "1ms")},
      {"wan_bandwidth", wan_of(3, 2), 6, each("bandwidth", halve)},
      {"wan_delay", wan_of(3, 2), 6, each("delay", [](Json& delay) { delay = "200ms"; })},
      {"wan_delay_is", wan_of(3, 2), 6, set("delay_is", "one_way")},
  };
}

class TopologyKnobs : public ::testing::TestWithParam<Knob> {};

/// A ring, a tree, all to all at once: every knob moves one of them.
TEST_P(TopologyKnobs, NeverMakeAnythingFaster) {
  const auto seconds = [&](const Json& topology, const std::function<double(Context)>& body) {
    const auto ends = simulate(joined_by(topology, GetParam().nodes), body);
    return ends.empty() ? -1 : *std::max_element(ends.begin(), ends.end());
  };
  const auto on_vector = [](auto collective) {
    return [collective](const Context& ctx) { return on_phantom(ctx, kBytes, collective); };
  };
  Json turned = GetParam().topology;
  GetParam().turn(turned);
  const std::vector<std::function<double(Context)>> bodies = {
      on_vector([](Context c, const Tensor& x) { ring_allreduce(c, x, Reduce::sum); }),
      on_vector([](Context c, const Tensor& x) { binomial_broadcast(c, x, 0); }), all_at_once};
  double before_s = 0, after_s = 0;
  for (const auto& body : bodies) {
    const double before = seconds(GetParam().topology, body), after = seconds(turned, body);
    EXPECT_GE(after, (1 - 1e-9) * before);  // rounding
    before_s += before;
    after_s += after;
  }
  EXPECT_GT(after_s, before_s);
}

INSTANTIATE_TEST_SUITE_P(All, TopologyKnobs, ::testing::ValuesIn(knobs()), TestName{});

}  // namespace
}  // namespace trigram::test
