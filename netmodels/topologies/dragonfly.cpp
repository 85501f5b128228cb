// Dragonfly (Kim, Dally, Scott and Abts, ISCA 2008, doi:10.1109/ISCA.2008.19): groups of `a`
// routers. Each router is connected to all other routers of its group, to p nodes, and by h links
// to other groups. There are g groups. Any two groups are connected by floor(a h / (g - 1)) links;
// leftover ports are unused.
//
// Minimal routing: a message goes to the router of its group that has a link to the destination's
// group, over that link, and on to the destination's router. If several links lead to the group,
// the destination's number selects one of the links that need the fewest local hops.
#include <fmt/format.h>

#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

struct DragonflyOptions {
  std::int64_t groups = 0;
  std::int64_t routers_per_group = 0;
  std::int64_t nodes_per_router = 0;
  std::int64_t global_links_per_router = 0;
  SwitchLink local, global;
};

FieldTable<DragonflyOptions> fields() {
  using D = DragonflyOptions;
  const auto count = integer(1, 1 << 20);
  return FieldTable<D>{}
      .required("groups", &D::groups, count, "g: number of groups of routers, at most a h + 1")
      .required("routers_per_group", &D::routers_per_group, count,
                "a: routers per group, all connected to one another")
      .required("nodes_per_router", &D::nodes_per_router, count,
                "p: nodes per router; the cluster has p a g nodes")
      .required("global_links_per_router", &D::global_links_per_router, count,
                "h: links from each router to other groups")
      .include(&D::local, switch_link_fields("", "links inside groups"))
      .include(&D::global, switch_link_fields("global_", "links between groups"));
}

void check(const DragonflyOptions& o, const AttachedNodes& attached, const std::string& pointer) {
  const std::int64_t a = o.routers_per_group, h = o.global_links_per_router;
  if (o.groups > a * h + 1)
    throw ConfigError(child(pointer, "groups"),
                      fmt::format("expected at most a h + 1 = {} x {} + 1 = {}, not {}", a, h,
                                  a * h + 1, o.groups));
  constexpr std::int64_t kMostLinks = 1 << 26;
  if (a * o.groups <= attached.count && a * o.groups * (a + h) > kMostLinks)
    throw ConfigError(child(pointer, "routers_per_group"),
                      fmt::format("expected at most {} links in all, not {} x {} x ({} + {})",
                                  kMostLinks, a, o.groups, a, h));
  if (a * o.groups > attached.count || o.nodes_per_router * a * o.groups != attached.count)
    throw ConfigError(
        pointer,
        fmt::format("{} groups of {} routers of {} nodes do not have the cluster's {} nodes",
                    o.groups, a, o.nodes_per_router, attached.count));
}

class Dragonfly final : public Topology {
 public:
  Dragonfly(const DragonflyOptions& o, const AttachedNodes& attached, Graph& graph)
      : groups_(static_cast<int>(o.groups)),
        routers_(static_cast<int>(o.routers_per_group)),
        nodes_per_router_(static_cast<int>(o.nodes_per_router)),
        globals_per_router_(static_cast<int>(o.global_links_per_router)),
        links_per_pair_(groups_ > 1 ? routers_ * globals_per_router_ / (groups_ - 1) : 0),
        local_Bps_(o.local.bandwidth(attached)),
        global_Bps_(o.global.bandwidth(attached)),
        first_router_(static_cast<VertexId>(graph.vertices.size())) {
    for (int router = 0; router < groups_ * routers_; ++router)
      graph.add(
          switch_vertex("router", fmt::format("{}.{}", router / routers_, router % routers_)));
    first_local_link_ = static_cast<LinkId>(graph.links.size());
    for (int router = 0; router < groups_ * routers_; ++router)
      for (int i = 0; i < routers_ - 1; ++i) {
        const int to = i < router % routers_ ? i : i + 1;
        graph.add(Link{first_router_ + router, first_router_ + router / routers_ * routers_ + to,
                       local_Bps_, o.local.latency_s});
      }
    first_global_link_ = static_cast<LinkId>(graph.links.size());
    for (int group = 0; group < groups_; ++group)
      for (int port = 0; port < ports(); ++port)
        graph.add(Link{
            first_router_ + group * routers_ + port / globals_per_router_,
            first_router_ + peer_of(group, port) * routers_ + far_port(port) / globals_per_router_,
            global_Bps_, o.global.latency_s});
  }

  VertexId switch_of(int node) const override { return first_router_ + node / nodes_per_router_; }

  void route(int source, int destination, std::vector<LinkId>& links) const override {
    const int from = source / nodes_per_router_, to = destination / nodes_per_router_;
    const int from_group = from / routers_, to_group = to / routers_;
    if (from_group == to_group) {
      local_hop(from, to % routers_, links);
      return;
    }
    const int port = global_port(from, to, destination);
    local_hop(from, port / globals_per_router_, links);
    links.push_back(first_global_link_ + from_group * ports() + port);
    local_hop(to_group * routers_ + far_port(port) / globals_per_router_, to % routers_, links);
  }

  Bisection bisection(double node_Bps) const override {
    const int per_group = routers_ * nodes_per_router_;
    if (groups_ == 1)
      return least_cut(
          per_group, routers_, nodes_per_router_, node_Bps,
          [this](int r) { return local_Bps_ * r * (routers_ - r); }, "half of the routers");
    return least_cut(
        groups_ * per_group, groups_, per_group, node_Bps,
        [this](int r) { return global_Bps_ * links_per_pair_ * r * (groups_ - r); },
        "half of the groups");
  }

 private:
  // The global ports of a group are numbered router by router. Port t of group i leads to group
  // (i + t mod (g - 1) + 1) mod g.
  int ports() const { return links_per_pair_ * (groups_ - 1); }
  int peer_of(int group, int port) const { return (group + port % (groups_ - 1) + 1) % groups_; }
  /// The number of the same link's port in the other group.
  int far_port(int port) const {
    const int offset = port % (groups_ - 1);
    return port - offset + groups_ - 2 - offset;
  }

  /// The port of the global link from the group of router `from` to the group of router `to`.
  int global_port(int from, int to, int destination) const {
    const int offset = (to / routers_ - from / routers_ + groups_) % groups_ - 1;
    int best = 0, fewest = 3;
    for (int i = 0; i < links_per_pair_; ++i) {
      const int port = offset + (destination + i) % links_per_pair_ * (groups_ - 1);
      const int hops = (port / globals_per_router_ != from % routers_) +
                       (far_port(port) / globals_per_router_ != to % routers_);
      if (hops >= fewest) continue;
      best = port;
      fewest = hops;
    }
    return best;
  }

  /// Appends the hop from router `from` to the router at position `to` in its group.
  void local_hop(int from, int to, std::vector<LinkId>& links) const {
    const int position = from % routers_;
    if (position != to)
      links.push_back(first_local_link_ + from * (routers_ - 1) + (to < position ? to : to - 1));
  }

  int groups_, routers_, nodes_per_router_, globals_per_router_;
  int links_per_pair_;  // links between any two groups
  double local_Bps_, global_Bps_;
  VertexId first_router_;
  LinkId first_local_link_ = 0, first_global_link_ = 0;
};

}  // namespace

TopologyEntry dragonfly_entry() {
  return topology_entry<Dragonfly>(
      "dragonfly", "groups of routers, each group connected to all others", fields(), check);
}

}  // namespace trigram
