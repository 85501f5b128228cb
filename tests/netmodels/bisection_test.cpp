// The closed form of every topology's bisection equals the minimum cut over all halves of its
// nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "netmodels/cluster_network.h"
#include "tests/oracles/flows.h"
#include "tests/support/networks.h"

namespace trigram::test::bisection_test {
namespace {

/// Networks with at most 16 nodes whose closed form is the minimum cut.
std::vector<NamedCluster> regular_networks() {
  std::vector<NamedCluster> all;
  const auto add = [&](const std::string& name, const Json& topology, int nodes, int workers = 1) {
    all.push_back({name, cluster_with_topology(topology, nodes, workers)});
    return all.size() - 1;
  };
  for (const int nodes : {2, 5, 8}) add("flat_" + std::to_string(nodes), "flat", nodes);
  all[add("flat_own_nics", "flat", 4, 2)].cluster.nics = Nics::per_worker;
  add("flat_shared_nics", "flat", 4, 2);
  for (const char* Bps : {"300MB/s", "1GB/s", "4GB/s"}) {
    const std::string suffix = std::string("_") + Bps[0];
    const auto with = [&](Json topology) {
      topology["bandwidth"] = Bps;
      return topology;
    };
    add("fat_tree_k2" + suffix, with({{"kind", "fat_tree"}, {"k", 2}}), 2);
    for (const int taper : {1, 2, 4})
      for (const int nodes : {8, 12})
        add("leaves_" + std::to_string(nodes) + "_tapered_" + std::to_string(taper) + suffix,
            with({{"kind", "fat_tree"}, {"nodes_per_leaf", 4}, {"taper", taper}}), nodes);
    add("leaves_of_3" + suffix, with({{"kind", "fat_tree"}, {"nodes_per_leaf", 3}}), 9);
    for (const std::vector<int>& dimensions :
         std::vector<std::vector<int>>{{4}, {5}, {2, 2}, {4, 2}, {3, 3}, {5, 2}, {2, 2, 2}, {3, 4}})
      add("torus" + suffix + "_" + std::to_string(all.size()),
          with({{"kind", "torus"}, {"dimensions", dimensions}}),
          std::accumulate(dimensions.begin(), dimensions.end(), 1, std::multiplies<>()));
    const auto dragonfly = [&](int p, int a, int h, int g) {
      add("dragonfly" + suffix + "_" + std::to_string(all.size()),
          with({{"kind", "dragonfly"},
                {"nodes_per_router", p},
                {"routers_per_group", a},
                {"global_links_per_router", h},
                {"groups", g},
                {"global_bandwidth", Bps}}),
          p * a * g);
    };
    dragonfly(1, 2, 1, 2);
    dragonfly(2, 2, 1, 2);
    dragonfly(1, 3, 1, 4);
    dragonfly(2, 3, 1, 2);
    dragonfly(3, 4, 1, 1);
    const auto mesh = [&](int a, int b, int x, int y) {
      add("hammingmesh" + suffix + "_" + std::to_string(all.size()),
          with({{"kind", "hammingmesh"},
                {"board", {a, b}},
                {"boards", {x, y}},
                {"tree_bandwidth", Bps}}),
          a * b * x * y);
    };
    mesh(1, 1, 2, 2);
    mesh(1, 1, 3, 4);
    mesh(2, 2, 2, 1);
    mesh(2, 1, 2, 2);
    mesh(1, 3, 2, 2);
  }
  add("fat_tree_k4", {{"kind", "fat_tree"}, {"k", 4}, {"bandwidth", "300MB/s"}}, 16);
  add("wan", wan_options(4, 3), 12);
  add("wan_odd", wan_options(3, 3), 9);
  add("wan_access_links", with_access_links(wan_options(4, 3), {60, 90, 0, 130}, {0, 70, 200, 40}),
      12);
  Json sites = with_access_links(wan_options(10, 1), {0, 30, 30, 30, 30, 30, 30, 30, 30, 30}, {});
  sites["regions"][0]["nodes"] = 6;
  add("wan_sites", sites, 15);
  return all;
}

class Bisections : public ::testing::TestWithParam<NamedCluster> {};

TEST_P(Bisections, EqualTheMinimumCut) {
  const auto network = make_network(GetParam().cluster);
  // A vertex per node, linked to all its workers: a node may send and receive through any of them.
  std::vector<Edge> edges;
  for (const Link& link : network->links())
    edges.push_back({link.from, link.to, std::min(link.bandwidth_Bps, 1e30)});
  auto vertices = static_cast<int>(network->vertices().size());
  std::vector<int> nodes;
  for (int node = 0; node < network->nodes(); ++node) {
    nodes.push_back(vertices++);
    for (int rank = 0; rank < network->ranks(); ++rank) {
      if (GetParam().cluster.node_of(rank) != node) continue;
      edges.push_back({nodes.back(), network->worker(rank), 1e30});
      edges.push_back({network->worker(rank), nodes.back(), 1e30});
    }
  }
  const double least = brute_force_bisection(vertices, edges, nodes);
  EXPECT_NEAR(network->bisection().bandwidth_Bps / least, 1, 1e-9)
      << network->bisection().bandwidth_Bps << " against " << least;
}

INSTANTIATE_TEST_SUITE_P(Tiny, Bisections, ::testing::ValuesIn(regular_networks()),
                         [](const auto& named) { return named.param.name; });

TEST(Bisection, OfOneNodeSeparatesItsWorkers) {
  Cluster cluster = cluster_with_topology("flat", 1, 6);
  EXPECT_EQ(make_network(cluster)->bisection().bandwidth_Bps, 3 * 10e9);
  cluster.intra.kind = IntraKind::pcie;
  EXPECT_EQ(make_network(cluster)->bisection().bandwidth_Bps, 10e9);
  cluster.intra.bridge_Bps = 100e9;
  EXPECT_EQ(make_network(cluster)->bisection().bandwidth_Bps, 3 * 10e9);
  EXPECT_EQ(make_network(cluster_with_topology("flat", 1))->bisection().bandwidth_Bps, 0);
}

}  // namespace
}  // namespace trigram::test::bisection_test
