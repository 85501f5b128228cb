#include "tests/support/networks.h"

#include <fmt/format.h>

namespace trigram::test {
namespace {

Json torus(std::vector<int> dimensions) {
  return {{"kind", "torus"}, {"dimensions", dimensions}, {"latency", "1us"}};
}

Json dragonfly(int p, int a, int h, int g) {
  return {{"kind", "dragonfly"},          {"nodes_per_router", p}, {"routers_per_group", a},
          {"global_links_per_router", h}, {"groups", g},           {"latency", "1us"},
          {"global_latency", "3us"}};
}

Json leaves(int nodes_per_leaf, int taper) {
  return {{"kind", "fat_tree"}, {"nodes_per_leaf", nodes_per_leaf}, {"taper", taper}};
}

Json mesh(int a, int b, int x, int y) {
  return {{"kind", "hammingmesh"}, {"board", {a, b}}, {"boards", {x, y}}};
}

NamedCluster bridged(int nodes) {
  Cluster cluster = cluster_with_topology("flat", nodes, 4);
  cluster.intra.kind = IntraKind::pcie;
  return {"pcie", cluster};
}

/// A network whose messages between nodes also cross ports and host bridges.
NamedCluster staged(const char* name, Nics nics, int nodes, int workers) {
  Cluster cluster = cluster_with_topology("flat", nodes, workers);
  cluster.intra.kind = IntraKind::pcie;
  cluster.intra.gpudirect = false;
  cluster.nics = nics;
  return {name, cluster};
}

NamedCluster with_own_nics(const Json& topology, int nodes, int workers) {
  Cluster cluster = cluster_with_topology(topology, nodes, workers);
  cluster.nics = Nics::per_worker;
  return {"own_nics", cluster};
}

}  // namespace

Cluster cluster_with_topology(const Json& topology, int nodes, int workers_per_node) {
  return parse_cluster(
      {{"nodes", nodes},
       {"workers_per_node", workers_per_node},
       {"inter", {{"bandwidth", "1GB/s"}, {"latency", "10us"}}},
       {"intra", {{"bandwidth", "10GB/s"}, {"latency", "1us"}}},
       {"accelerator",
        {{"flops", "1TFLOP/s"}, {"memory_bandwidth", "100GB/s"}, {"launch_overhead", "0s"}}},
       {"topology", topology}},
      "/cluster");
}

Json wan_options(int regions, int nodes) {
  Json j = {{"kind", "wan"}, {"delay_is", "round_trip"}};
  for (int i = 0; i < regions; ++i) {
    j["regions"].push_back({{"name", fmt::format("region {}", i)}, {"nodes", nodes}});
    Json delay = Json::array(), bandwidth = Json::array();
    for (int k = 0; k < regions; ++k) {
      const int pair = i < k ? i * regions + k : k * regions + i;
      delay.push_back(i == k ? Json() : Json(fmt::format("{}ms", 10 + pair)));
      bandwidth.push_back(i == k ? Json() : Json(fmt::format("{}MB/s", 50 + 7 * pair)));
    }
    j["delay"].push_back(delay);
    j["bandwidth"].push_back(bandwidth);
  }
  return j;
}

Json with_access_links(Json wan, const std::vector<int>& up_MBps,
                       const std::vector<int>& down_MBps) {
  const auto add = [&wan](const char* key, const std::vector<int>& MBps) {
    for (std::size_t i = 0; i < MBps.size(); ++i)
      if (MBps[i] > 0) wan["regions"][i][key] = fmt::format("{}MB/s", MBps[i]);
  };
  add("up", up_MBps);
  add("down", down_MBps);
  return wan;
}

std::vector<NamedCluster> small_networks() {
  return {
      {"one_worker", cluster_with_topology("flat", 1)},
      {"one_node", cluster_with_topology("flat", 1, 4)},
      {"flat", cluster_with_topology("flat", 5)},
      {"flat_nodes", cluster_with_topology("flat", 3, 3)},
      bridged(3),
      staged("staged", Nics::shared, 3, 4),
      staged("staged_own_nics", Nics::per_worker, 2, 3),
      staged("staged_alone", Nics::shared, 4, 1),
      with_own_nics(torus({3, 2}), 6, 2),
      {"fat_tree_k2", cluster_with_topology({{"kind", "fat_tree"}, {"k", 2}}, 2)},
      {"fat_tree_k4", cluster_with_topology({{"kind", "fat_tree"}, {"k", 4}}, 16, 2)},
      {"leaves", cluster_with_topology(leaves(4, 1), 12)},
      {"leaves_tapered", cluster_with_topology(leaves(4, 2), 12)},
      {"one_leaf", cluster_with_topology(leaves(6, 3), 6)},
      {"dragonfly", cluster_with_topology(dragonfly(2, 4, 2, 9), 72)},
      {"dragonfly_few_groups", cluster_with_topology(dragonfly(1, 4, 2, 3), 12)},
      {"dragonfly_odd_share", cluster_with_topology(dragonfly(2, 3, 2, 5), 30)},
      {"dragonfly_one_group", cluster_with_topology(dragonfly(2, 4, 1, 1), 8, 2)},
      {"ring", cluster_with_topology(torus({7}), 7)},
      {"torus_2d", cluster_with_topology(torus({4, 3}), 12, 2)},
      {"torus_3d", cluster_with_topology(torus({2, 3, 4}), 24)},
      {"torus_flat_dimension", cluster_with_topology(torus({1, 4}), 4)},
      {"hx2", cluster_with_topology(mesh(2, 2, 2, 3), 24)},
      {"hx4", cluster_with_topology(mesh(4, 4, 2, 1), 32)},
      {"hyperx", cluster_with_topology(mesh(1, 1, 3, 4), 12)},
      {"hx_1x3", cluster_with_topology(mesh(1, 3, 2, 2), 12)},
      {"wan", cluster_with_topology(wan_options(4, 3), 12, 2)},
      {"wan_access_links",
       cluster_with_topology(with_access_links(wan_options(3, 2), {60, 0, 0}, {0, 0, 90}), 6)},
  };
}

std::vector<NamedCluster> medium_networks() {
  return {
      {"fat_tree_k8", cluster_with_topology({{"kind", "fat_tree"}, {"k", 8}}, 128, 2)},
      {"leaves_tapered", cluster_with_topology(leaves(16, 4), 256)},
      {"dragonfly", cluster_with_topology(dragonfly(2, 4, 2, 9), 72, 4)},
      {"dragonfly_several_links", cluster_with_topology(dragonfly(4, 8, 4, 8), 256)},
      {"torus", cluster_with_topology(torus({8, 6, 5}), 240)},
      {"hx2", cluster_with_topology(mesh(2, 2, 8, 8), 256)},
      {"hx4", cluster_with_topology(mesh(4, 4, 4, 4), 256)},
      {"wan", cluster_with_topology(wan_options(10, 8), 80, 4)},
  };
}

}  // namespace trigram::test
