// Fat trees. The option `k` gives three levels of k-port switches for k^3/4 nodes (Al-Fares,
// Loukissas and Vahdat, SIGCOMM 2008, doi:10.1145/1402958.1402967). The option `nodes_per_leaf`
// gives two levels, with a link from every leaf to every spine; a leaf has `taper` links down to
// nodes for each link up.
//
// D-mod-k routing (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations
// on real life fat trees", CCIT report 776, 2010): on the way up, only the destination's number
// selects the link, so that traffic to a destination always uses the same links down.
#include <fmt/format.h>

#include <algorithm>

#include "core/config/option_type.h"
#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

struct FatTreeOptions {
  std::int64_t k = 0;
  std::int64_t nodes_per_leaf = 0;
  std::int64_t taper = 1;
  SwitchLink link;
};

/// A count that is dumped only if it was given.
OptionType<std::int64_t> count_if_given(std::int64_t least, std::int64_t most) {
  return dumped_if(integer(least, most), [](std::int64_t count) { return count > 0; });
}

FieldTable<FatTreeOptions> fields() {
  constexpr std::int64_t kMost = 1 << 20;
  const auto two_levels = [](const FatTreeOptions& o) { return o.k == 0; };
  return FieldTable<FatTreeOptions>{}
      .field("k", &FatTreeOptions::k, count_if_given(2, 160),
             "ports of each switch of a tree of three levels, which has k^3/4 nodes")
      .field("nodes_per_leaf", &FatTreeOptions::nodes_per_leaf, count_if_given(1, kMost),
             "nodes per leaf switch of a tree of two levels")
      .only_where(
          two_levels,
          "is for trees of two levels, and k for trees of three levels; expected one of them")
      .field(
          "taper", &FatTreeOptions::taper, integer(1, kMost),
          "links from a leaf switch down to nodes per link up to a spine switch; 1: non-blocking")
      .only_where(two_levels,
                  "is for trees of two levels, and k for trees of three levels; remove it")
      .include(&FatTreeOptions::link, switch_link_fields("", "links between switches"));
}

void check(const FatTreeOptions& o, const AttachedNodes& attached, const std::string& pointer) {
  if (o.k > 0) {
    if (o.k % 2 != 0)
      throw ConfigError(child(pointer, "k"), fmt::format("expected an even number, not {}", o.k));
    const std::int64_t nodes = o.k * o.k * o.k / 4;
    if (nodes != attached.count)
      throw ConfigError(
          child(pointer, "k"),
          fmt::format("{} is for k^3/4 = {} nodes; expected a k for the cluster's {} nodes", o.k,
                      nodes, attached.count));
    return;
  }
  const std::string at = child(pointer, "nodes_per_leaf");
  if (o.nodes_per_leaf == 0)
    throw ConfigError(at, "missing; expected nodes_per_leaf for two levels, or k for three");
  if (attached.count % o.nodes_per_leaf != 0)
    throw ConfigError(at, fmt::format("expected a divisor of the number of nodes, {}, not {}",
                                      attached.count, o.nodes_per_leaf));
  if (o.nodes_per_leaf % o.taper != 0)
    throw ConfigError(
        child(pointer, "taper"),
        fmt::format("expected a divisor of nodes_per_leaf, {}, not {}", o.nodes_per_leaf, o.taper));
}

/// Two levels: leaves and spines.
class TwoLevels final : public Topology {
 public:
  TwoLevels(const FatTreeOptions& o, const AttachedNodes& attached, Graph& graph)
      : per_leaf_(static_cast<int>(o.nodes_per_leaf)),
        spines_(static_cast<int>(o.nodes_per_leaf / o.taper)),
        leaves_(static_cast<int>(attached.count / o.nodes_per_leaf)),
        link_Bps_(o.link.bandwidth(attached)),
        first_(static_cast<VertexId>(graph.vertices.size())),
        links_(static_cast<LinkId>(graph.links.size())) {
    for (int leaf = 0; leaf < leaves_; ++leaf)
      graph.add(switch_vertex("leaf switch", std::to_string(leaf)));
    for (int spine = 0; spine < spines_; ++spine)
      graph.add(switch_vertex("spine switch", std::to_string(spine)));
    for (int leaf = 0; leaf < leaves_; ++leaf)
      for (int spine = 0; spine < spines_; ++spine)
        graph.add_duplex(first_ + leaf, first_ + leaves_ + spine, link_Bps_, o.link.latency_s);
  }

  VertexId switch_of(int node) const override { return first_ + node / per_leaf_; }
  void route(int source, int destination, std::vector<LinkId>& links) const override {
    const int from = source / per_leaf_, to = destination / per_leaf_;
    if (from == to) return;
    const int spine = destination % spines_;
    links.push_back(up(from, spine));
    links.push_back(up(to, spine) + 1);
  }
  Bisection bisection(double node_Bps) const override {
    return least_cut(
        leaves_ * per_leaf_, leaves_, per_leaf_, node_Bps,
        [this](int r) { return spines_ * link_Bps_ * std::min(r, leaves_ - r); },
        "half of the leaves");
  }

 private:
  LinkId up(int leaf, int spine) const { return links_ + 2 * (leaf * spines_ + spine); }
  int per_leaf_, spines_, leaves_;
  double link_Bps_;
  VertexId first_;
  LinkId links_;
};

/// Three levels: pods of k/2 edge and k/2 aggregation switches, below (k/2)^2 core switches.
class ThreeLevels final : public Topology {
 public:
  ThreeLevels(const FatTreeOptions& o, const AttachedNodes& attached, Graph& graph)
      : k_(static_cast<int>(o.k)),
        half_(k_ / 2),
        link_Bps_(o.link.bandwidth(attached)),
        first_(static_cast<VertexId>(graph.vertices.size())) {
    add_switches(graph);
    edge_links_ = static_cast<LinkId>(graph.links.size());
    for (int pod = 0; pod < k_; ++pod)
      for (int e = 0; e < half_; ++e)
        for (int a = 0; a < half_; ++a)
          graph.add_duplex(edge(pod, e), aggregation(pod, a), link_Bps_, o.link.latency_s);
    core_links_ = static_cast<LinkId>(graph.links.size());
    for (int pod = 0; pod < k_; ++pod)
      for (int a = 0; a < half_; ++a)
        for (int c = 0; c < half_; ++c)
          graph.add_duplex(aggregation(pod, a), core(a, c), link_Bps_, o.link.latency_s);
  }

  VertexId switch_of(int node) const override { return first_ + node / half_; }
  void route(int source, int destination, std::vector<LinkId>& links) const override {
    const int from_edge = source / half_, to_edge = destination / half_;
    if (from_edge == to_edge) return;
    const int from_pod = from_edge / half_, to_pod = to_edge / half_;
    const int a = destination % half_, c = destination / half_ % half_;
    links.push_back(up_from_edge(from_edge, a));
    if (from_pod != to_pod) {
      links.push_back(up_from_aggregation(from_pod, a, c));
      links.push_back(up_from_aggregation(to_pod, a, c) + 1);
    }
    links.push_back(up_from_edge(to_edge, a) + 1);
  }
  Bisection bisection(double node_Bps) const override {
    const int nodes = k_ * half_ * half_, half = nodes / 2;
    return or_at_nics({half * link_Bps_, "half of the pods"}, nodes, node_Bps);
  }

 private:
  void add_switches(Graph& graph) const {
    for (int pod = 0; pod < k_; ++pod)
      for (int e = 0; e < half_; ++e)
        graph.add(switch_vertex("edge switch", fmt::format("{}.{}", pod, e)));
    for (int pod = 0; pod < k_; ++pod)
      for (int a = 0; a < half_; ++a)
        graph.add(switch_vertex("aggregation switch", fmt::format("{}.{}", pod, a)));
    for (int a = 0; a < half_; ++a)
      for (int c = 0; c < half_; ++c)
        graph.add(switch_vertex("core switch", fmt::format("{}.{}", a, c)));
  }
  VertexId edge(int pod, int e) const { return first_ + pod * half_ + e; }
  VertexId aggregation(int pod, int a) const { return first_ + (k_ + pod) * half_ + a; }
  VertexId core(int a, int c) const { return first_ + (2 * k_ + a) * half_ + c; }
  LinkId up_from_edge(int edge, int a) const { return edge_links_ + 2 * (edge * half_ + a); }
  LinkId up_from_aggregation(int pod, int a, int c) const {
    return core_links_ + 2 * ((pod * half_ + a) * half_ + c);
  }
  int k_, half_;
  double link_Bps_;
  VertexId first_;
  LinkId edge_links_ = 0, core_links_ = 0;
};

}  // namespace

TopologyEntry fat_tree_entry() {
  TopologyEntry entry = topology_entry<TwoLevels>(
      "fat_tree", "switches in two or three levels, with at most as many links up as down",
      fields(), check);
  entry.make = [two = entry.make](const Json& resolved, const AttachedNodes& attached,
                                  Graph& graph) -> std::unique_ptr<Topology> {
    const FatTreeOptions o = fields().parse(resolved, "");
    if (o.k > 0) return std::make_unique<ThreeLevels>(o, attached, graph);
    return two(resolved, attached, graph);
  };
  return entry;
}

}  // namespace trigram
