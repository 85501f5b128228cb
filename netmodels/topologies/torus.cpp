// Tori of any number of dimensions, with one router per node and dimension-order routing along the
// shortest way (Dally and Towles, Principles and Practices of Interconnection Networks, 2004,
// chapters 5 and 8). If both ways along a dimension are equally long, a message goes up from an
// even coordinate and down from an odd coordinate, so that uniform traffic loads both directions
// equally.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

struct TorusOptions {
  std::vector<std::int64_t> dimensions;
  SwitchLink link;
};

FieldTable<TorusOptions> fields() {
  return FieldTable<TorusOptions>{}
      .required("dimensions", &TorusOptions::dimensions, list_of(integer(1, 1 << 20)),
                "nodes along each dimension, such as [4, 4, 2]; node numbers count fastest along "
                "the last one")
      .include(&TorusOptions::link, switch_link_fields("", "links between routers"));
}

void check(const TorusOptions& o, const AttachedNodes& attached, const std::string& pointer) {
  const std::string at = child(pointer, "dimensions");
  if (o.dimensions.empty() || o.dimensions.size() > 16)
    throw ConfigError(at, fmt::format("expected 1 to 16 dimensions, not {}", o.dimensions.size()));
  std::int64_t product = 1;
  for (const std::int64_t size : o.dimensions) {
    product *= size;
    if (product > attached.count) break;  // prevents overflow
  }
  if (product != attached.count)
    throw ConfigError(at, fmt::format("{} does not have the cluster's {} nodes",
                                      fmt::join(o.dimensions, " x "), attached.count));
}

class Torus final : public Topology {
 public:
  Torus(const TorusOptions& o, const AttachedNodes& attached, Graph& graph)
      : nodes_(static_cast<int>(attached.count)),
        link_Bps_(o.link.bandwidth(attached)),
        first_(static_cast<VertexId>(graph.vertices.size())) {
    int stride = nodes_;
    for (const std::int64_t size : o.dimensions) {
      stride /= static_cast<int>(size);
      dimensions_.push_back({static_cast<int>(size), stride, 0});
    }
    for (int node = 0; node < nodes_; ++node)
      graph.add(switch_vertex("router", fmt::format("{}", fmt::join(coordinates(node), "."))));
    for (Dimension& d : dimensions_) add_links(d, graph, o.link.latency_s);
  }

  VertexId switch_of(int node) const override { return first_ + node; }

  void route(int source, int destination, std::vector<LinkId>& links) const override {
    int at = source;
    for (const Dimension& d : dimensions_) {
      const int to = d.coordinate(destination);
      const bool up = goes_up(d, d.coordinate(source), to);
      for (int c = d.coordinate(source); c != to; c = d.next(c, up)) {
        links.push_back(link(d, at, up));
        at += (d.next(c, up) - c) * d.stride;
      }
    }
  }

  Bisection bisection(double node_Bps) const override {
    std::vector<int> sizes;
    for (const Dimension& d : dimensions_)
      if (d.size > 1) sizes.push_back(d.size);
    std::sort(sizes.begin(), sizes.end());
    return least_cut(
        nodes_, nodes_, 1, node_Bps, [&](int r) { return link_Bps_ * least_staircase(sizes, r); },
        "across a dimension");
  }

 private:
  struct Dimension {
    int size, stride;
    LinkId links;
    int coordinate(int node) const { return node / stride % size; }
    int next(int c, bool up) const {
      return up ? (c + 1 == size ? 0 : c + 1) : (c + size - 1) % size;
    }
    /// Number of links from a router along a dimension. In a ring of two, both directions lead to
    /// the same neighbour.
    int degree() const { return std::min(size - 1, 2); }
  };

  std::vector<int> coordinates(int node) const {
    std::vector<int> all;
    for (const Dimension& d : dimensions_) all.push_back(d.coordinate(node));
    return all;
  }
  static bool goes_up(const Dimension& d, int from, int to) {
    const int distance = (to - from + d.size) % d.size;
    return 2 * distance < d.size || (2 * distance == d.size && from % 2 == 0);
  }
  LinkId link(const Dimension& d, int node, bool up) const {
    return d.links + d.degree() * node + (up || d.degree() == 1 ? 0 : 1);
  }
  void add_links(Dimension& d, Graph& graph, double latency_s) const {
    d.links = static_cast<LinkId>(graph.links.size());
    for (int node = 0; node < nodes_; ++node)
      for (int direction = 0; direction < d.degree(); ++direction) {
        const int to =
            node + (d.next(d.coordinate(node), direction == 0) - d.coordinate(node)) * d.stride;
        graph.add(Link{first_ + node, first_ + to, link_Bps_, latency_s});
      }
  }

  /// Number of links from the first r nodes to the other nodes, if nodes are numbered such that
  /// the last dimension of `sizes` varies slowest.
  static double staircase(std::span<const int> sizes, int r) {
    if (sizes.empty() || r == 0) return 0;
    const std::span<const int> inner = sizes.first(sizes.size() - 1);
    const int size = sizes.back(),
              columns = std::accumulate(inner.begin(), inner.end(), 1, std::multiplies<>());
    const int full = r / columns, rest = r % columns;
    const auto ends = [size](int count) {
      return count == 0 || count == size ? 0.0 : size == 2 ? 1.0 : 2.0;
    };
    return rest * ends(full + 1) + (columns - rest) * ends(full) + staircase(inner, rest);
  }
  static double least_staircase(std::vector<int> sizes, int r) {
    // Any dimension may vary slowest. Among the other dimensions, the longer vary more slowly.
    double least = staircase(sizes, r);
    for (std::size_t slowest = 0; slowest + 1 < sizes.size(); ++slowest) {
      std::vector<int> order = sizes;
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(slowest),
                  order.begin() + static_cast<std::ptrdiff_t>(slowest) + 1, order.end());
      least = std::min(least, staircase(order, r));
    }
    return least;
  }

  int nodes_;
  double link_Bps_;
  VertexId first_;
  std::vector<Dimension> dimensions_;
};

}  // namespace

TopologyEntry torus_entry() {
  return topology_entry<Torus>("torus", "a ring of routers along each dimension", fields(), check);
}

}  // namespace trigram
