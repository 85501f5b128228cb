// Every topology has the numbers of switches and links that formulas give, and its routes lead from
// worker to worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "netmodels/cluster_network.h"
#include "tests/oracles/flows.h"
#include "tests/support/networks.h"

namespace trigram::test::topologies_test {
namespace {

std::vector<LinkId> route_of(const Network& network, int source, int destination) {
  std::vector<LinkId> links;
  network.route(source, destination, links);
  return links;
}

int hops(const Network& network, const std::vector<LinkId>& route) {
  return static_cast<int>(std::count_if(route.begin(), route.end(),
                                        [&](LinkId id) { return !network.link(id).unlimited(); }));
}

std::vector<Edge> edges_of(const Network& network) {
  std::vector<Edge> edges;
  for (const Link& link : network.links())
    edges.push_back({link.from, link.to, std::min(link.bandwidth_Bps, 1e30)});
  return edges;
}

std::map<std::string, int> tiers(const Network& network) {
  std::map<std::string, int> count;
  for (const Vertex& vertex : network.vertices()) ++count[vertex.tier];
  return count;
}

int limited_links(const Network& network) {
  return static_cast<int>(std::count_if(network.links().begin(), network.links().end(),
                                        [](const Link& link) { return !link.unlimited(); }));
}

/// The route must be a chain of links from the source to the destination, without repeated
/// vertices.
void expect_valid(const Network& network, int source, int destination) {
  VertexId at = network.worker(source);
  std::set<VertexId> seen = {at};
  for (const LinkId id : route_of(network, source, destination)) {
    ASSERT_EQ(network.link(id).from, at) << network.name(id);
    at = network.link(id).to;
    ASSERT_TRUE(seen.insert(at).second) << network.name(id);
  }
  ASSERT_EQ(at, network.worker(destination)) << source << " to " << destination;
}

class Topologies : public ::testing::TestWithParam<NamedCluster> {};

TEST_P(Topologies, RoutesAreChainsFromWorkerToWorker) {
  const auto network = make_network(GetParam().cluster);
  for (int source = 0; source < network->ranks(); ++source)
    for (int destination = 0; destination < network->ranks(); ++destination)
      expect_valid(*network, source, destination);
}

TEST_P(Topologies, RoutesAreDeterministic) {
  const auto network = make_network(GetParam().cluster), copy = make_network(GetParam().cluster);
  const int last = network->ranks() - 1;
  for (int rank = 0; rank <= last; ++rank) {
    EXPECT_EQ(route_of(*network, rank, last), route_of(*network, rank, last));
    EXPECT_EQ(route_of(*network, last, rank), route_of(*copy, last, rank));
  }
}

TEST_P(Topologies, MessagesBeginWithTheirInjection) {
  const auto network = make_network(GetParam().cluster);
  const Layout layout = GetParam().cluster.layout();
  for (int source = 0; source < network->ranks(); ++source)
    for (int destination = 0; destination < network->ranks(); ++destination) {
      if (source == destination) continue;
      std::vector<LinkId> first, route = route_of(*network, source, destination);
      network->injection(source, layout.same_node(source, destination), first);
      ASSERT_LE(first.size(), route.size());
      route.resize(first.size());
      ASSERT_EQ(route, first);
    }
}

TEST_P(Topologies, LatenciesAreEndToEndPlusThoseOfTheTopology) {
  const Cluster& cluster = GetParam().cluster;
  const auto network = make_network(cluster);
  for (int rank = 1; rank < network->ranks(); ++rank) {
    const bool inside = cluster.layout().same_node(0, rank);
    double expected = inside ? cluster.intra.latency_s : cluster.inter.latency_s;
    if (!inside && cluster.intra.staged()) expected += cluster.intra.latency_s;
    for (const LinkId id : route_of(*network, 0, rank)) {
      const auto kind = network->vertex(network->link(id).from).kind;
      if (kind == Vertex::Kind::network_switch) expected += network->link(id).latency_s;
    }
    EXPECT_EQ(network->latency(0, rank), expected);
  }
}

std::string name_of(const ::testing::TestParamInfo<NamedCluster>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Small, Topologies, ::testing::ValuesIn(small_networks()), name_of);
INSTANTIATE_TEST_SUITE_P(Medium, Topologies, ::testing::ValuesIn(medium_networks()), name_of);

/// All topologies except dragonflies. Their minimal routes use one link between groups, even if a
/// route over two such links has fewer hops.
class MinimalRoutes : public ::testing::TestWithParam<NamedCluster> {};

TEST_P(MinimalRoutes, NoPathIsShorter) {
  const auto network = make_network(GetParam().cluster);
  const auto edges = edges_of(*network);
  const auto vertices = static_cast<int>(network->vertices().size());
  const Layout layout = GetParam().cluster.layout();
  for (int source = 0; source < network->ranks(); ++source) {
    const auto distance = distances(vertices, edges, network->worker(source));
    for (int to = 0; to < network->ranks(); ++to) {
      if (source != to && layout.same_node(source, to))
        continue;  // such a route uses the fabric, not the NIC
      const auto links = static_cast<int>(route_of(*network, source, to).size());
      ASSERT_EQ(links, distance[static_cast<std::size_t>(network->worker(to))])
          << source << " to " << to;
    }
  }
}

std::vector<NamedCluster> minimally_routed_networks() {
  auto all = small_networks();
  for (const NamedCluster& more : medium_networks()) {
    all.push_back(more);
    all.back().name = "medium_" + more.name;
  }
  std::erase_if(all, [](const auto& n) { return n.name.find("dragonfly") != std::string::npos; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, MinimalRoutes, ::testing::ValuesIn(minimally_routed_networks()),
                         name_of);

TEST(Dragonfly, ARouteHasOneLinkBetweenGroupsAndAtMostOneBeforeAndAfter) {
  for (const auto& all : {small_networks(), medium_networks()})
    for (const NamedCluster& named : all) {
      const Cluster& cluster = named.cluster;
      if (cluster.topology.kind != "dragonfly") continue;
      const auto network = make_network(cluster);
      const int a = cluster.topology.options.at("routers_per_group");
      const int p = cluster.topology.options.at("nodes_per_router");
      const auto group_of = [&](int rank) { return cluster.node_of(rank) / (a * p); };
      for (int source = 0; source < network->ranks(); ++source)
        for (int to = 0; to < network->ranks(); ++to) {
          if (cluster.node_of(source) == cluster.node_of(to)) continue;
          // The number of hops without those at the NICs.
          const int between = hops(*network, route_of(*network, source, to)) - 2;
          ASSERT_LE(between, group_of(source) == group_of(to) ? 1 : 3) << named.name;
          ASSERT_GE(between, group_of(source) == group_of(to) ? 0 : 1) << named.name;
        }
    }
}

TEST(Dragonfly, HasTheSameNumberOfLinksBetweenAnyTwoGroups) {
  for (const auto& [name, cluster] : small_networks()) {
    if (cluster.topology.kind != "dragonfly") continue;
    const auto network = make_network(cluster);
    const Json& o = cluster.topology.options;
    const int a = o.at("routers_per_group"), h = o.at("global_links_per_router"),
              g = o.at("groups");
    std::map<std::pair<std::string, std::string>, int> between;
    std::map<std::string, int> global_links;  // by router
    for (const Link& link : network->links()) {
      const Vertex &from = network->vertex(link.from), &to = network->vertex(link.to);
      if (from.tier != "router" || to.tier != "router") continue;
      const auto group = [](const Vertex& v) { return v.name.substr(0, v.name.find('.')); };
      if (group(from) == group(to)) continue;
      ++between[{group(from), group(to)}];
      EXPECT_LE(++global_links[from.name], h);
    }
    EXPECT_EQ(static_cast<int>(between.size()), g * (g - 1)) << name;
    for (const auto& [pair, count] : between) EXPECT_EQ(count, a * h / (g - 1)) << name;
  }
}

// Al-Fares et al., section 3: k^3/4 hosts, k^2/2 edge, k^2/2 aggregation and (k/2)^2 core switches,
// 5k^2/4 switches in all; each of the three levels has as many links as there are hosts.
TEST(FatTree, OfThreeLevelsHasTheStatedNumberOfParts) {
  for (const int k : {2, 4, 6, 8}) {
    const int hosts = k * k * k / 4;
    const auto network =
        make_network(cluster_with_topology({{"kind", "fat_tree"}, {"k", k}}, hosts));
    auto count = tiers(*network);
    EXPECT_EQ(count["worker"], hosts);
    EXPECT_EQ(count["edge switch"], k * k / 2);
    EXPECT_EQ(count["aggregation switch"], k * k / 2);
    EXPECT_EQ(count["core switch"], k * k / 4);
    EXPECT_EQ(limited_links(*network), 2 * 3 * hosts);
    EXPECT_EQ(hops(*network, route_of(*network, 0, hosts - 1)), 6);
  }
}

TEST(FatTree, OfTwoLevelsHasTheStatedNumberOfParts) {
  const auto network = make_network(
      cluster_with_topology({{"kind", "fat_tree"}, {"nodes_per_leaf", 8}, {"taper", 4}}, 24));
  auto count = tiers(*network);
  EXPECT_EQ(count["leaf switch"], 3);
  EXPECT_EQ(count["spine switch"], 2);
  EXPECT_EQ(limited_links(*network), 2 * (24 + 3 * 2));
}

TEST(Dragonfly, HasTheStatedNumberOfParts) {
  const Json options = {{"kind", "dragonfly"},
                        {"nodes_per_router", 2},
                        {"routers_per_group", 4},
                        {"global_links_per_router", 2},
                        {"groups", 9}};
  const auto network = make_network(cluster_with_topology(options, 2 * 4 * 9));
  EXPECT_EQ(tiers(*network)["router"], 4 * 9);
  EXPECT_EQ(limited_links(*network), 2 * 72 + 9 * 4 * 3 + 9 * 8);
}

TEST(Torus, HasTheStatedNumberOfParts) {
  // There are two links per router and dimension, or one if the dimension has length two.
  const Json options = {{"kind", "torus"}, {"dimensions", {2, 3, 4}}};
  const auto network = make_network(cluster_with_topology(options, 24));
  EXPECT_EQ(tiers(*network)["router"], 24);
  EXPECT_EQ(limited_links(*network), 2 * 24 + 24 * (1 + 2 + 2));
  // The diameter is the sum of half of each dimension, rounded down.
  int diameter = 0;
  for (int to = 0; to < 24; ++to)
    diameter = std::max(diameter, hops(*network, route_of(*network, 0, to)) - 2);
  EXPECT_EQ(diameter, 1 + 1 + 2);
}

// Hoefler et al.: there are a x row trees with 2 y ports each, and b y column trees with 2 x ports
// each.
TEST(HammingMesh, HasTheStatedNumberOfParts) {
  const int a = 2, b = 3, x = 4, y = 5, N = a * b * x * y;
  const Json options = {{"kind", "hammingmesh"}, {"board", {a, b}}, {"boards", {x, y}}};
  const auto network = make_network(cluster_with_topology(options, N));
  auto count = tiers(*network);
  EXPECT_EQ(count["accelerator port"], N);
  EXPECT_EQ(count["row tree"], a * x);
  EXPECT_EQ(count["column tree"], b * y);
  const int in_boards = x * y * (a * (b - 1) + b * (a - 1));
  const int to_trees = a * x * 2 * y + b * y * 2 * x;
  EXPECT_EQ(limited_links(*network), 2 * (N + in_boards + to_trees));
}

TEST(HammingMesh, NumbersNodesBoardByBoard) {
  const Json options = {{"kind", "hammingmesh"}, {"board", {2, 2}}, {"boards", {2, 2}}};
  const auto network = make_network(cluster_with_topology(options, 16));
  // Nodes 0 to 3 are a board. Neighbours are one link apart, and opposite corners two.
  EXPECT_EQ(hops(*network, route_of(*network, 0, 1)) - 2, 1);
  EXPECT_EQ(hops(*network, route_of(*network, 0, 2)) - 2, 1);
  EXPECT_EQ(hops(*network, route_of(*network, 0, 3)) - 2, 2);
  // Node 4 is the first of the next board in the row, node 8 the first of the board below.
  EXPECT_EQ(hops(*network, route_of(*network, 0, 4)) - 2, 2);
  EXPECT_EQ(hops(*network, route_of(*network, 0, 8)) - 2, 2);
}

TEST(Torus, MessagesHalfWayAroundLoadBothDirectionsEqually) {
  // For uniform traffic, q^2 / 8 messages use each link of a ring of q (Dally and Towles, chapter
  // 5).
  const auto network =
      make_network(cluster_with_topology({{"kind", "torus"}, {"dimensions", {8}}}, 8));
  std::map<LinkId, int> load;
  for (int source = 0; source < 8; ++source)
    for (int to = 0; to < 8; ++to)
      for (const LinkId id : route_of(*network, source, to))
        if (network->vertex(network->link(id).from).tier == "router" &&
            network->vertex(network->link(id).to).tier == "router")
          ++load[id];
  EXPECT_EQ(load.size(), 16u);
  for (const auto& [id, messages] : load) EXPECT_EQ(messages, 8) << network->name(id);
}

}  // namespace
}  // namespace trigram::test::topologies_test
