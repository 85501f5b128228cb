#include "experiments/show/topology_placement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/check.h"

namespace trigram {
namespace {

/// Where the switches and the nodes of a topology are drawn. Switches are numbered in the order in
/// which the topology adds them to the graph.
class Placement {
 public:
  virtual ~Placement() = default;
  virtual Point of_switch(int index) const = 0;
  virtual Point of_node(int node) const = 0;
};

/// The parts that a placement arranges.
struct Parts {
  const Json& options;  // resolved options of the topology
  int nodes, switches;
  int option(const char* key) const { return options.at(key).get<int>(); }
};

/// The switch is in the middle, with one row of nodes above it and one below it.
class Flat final : public Placement {
 public:
  explicit Flat(const Parts& parts) : columns_(std::max((parts.nodes + 1) / 2, 1)) {}
  Point of_switch(int) const override { return {(columns_ - 1) / 2.0, 1.5}; }
  Point of_node(int node) const override {
    return {static_cast<double>(node % columns_), node < columns_ ? 0.0 : 3.0};
  }

 private:
  int columns_;
};

/// Spines are above leaves, and leaves above nodes.
class TwoLevels final : public Placement {
 public:
  explicit TwoLevels(const Parts& parts)
      : nodes_(parts.nodes),
        per_leaf_(parts.option("nodes_per_leaf")),
        leaves_(nodes_ / per_leaf_),
        spines_(parts.switches - leaves_) {}
  Point of_switch(int index) const override {
    if (index < leaves_) return {(index + 0.5) * per_leaf_ - 0.5, 2.5};
    const int spine = index - leaves_;
    const double width = nodes_;
    return {(spine + 0.5) * width / spines_ - 0.5, 0};
  }
  Point of_node(int node) const override { return {static_cast<double>(node), 4}; }

 private:
  int nodes_, per_leaf_, leaves_, spines_;
};

/// Core switches above aggregation and edge switches, which stand pod by pod.
class ThreeLevels final : public Placement {
 public:
  explicit ThreeLevels(const Parts& parts) : k_(parts.option("k")), half_(k_ / 2) {}
  Point of_switch(int index) const override {
    const double pod_width = half_ * half_;
    // Number of edge switches; there are as many aggregation switches.
    const int per_level = k_ * half_;
    if (index < 2 * per_level) {
      const int pod = index % per_level / half_, i = index % half_;
      return {pod * pod_width + (i + 0.5) * half_ - 0.5, index < per_level ? 4.5 : 3};
    }
    const double step = k_ * pod_width / (half_ * half_);
    return {(index - 2 * per_level + 0.5) * step - 0.5, 0};
  }
  Point of_node(int node) const override { return {static_cast<double>(node), 6}; }

 private:
  int k_, half_;
};

/// Groups are in rows, the routers of a group side by side, and nodes below their router.
class Dragonfly final : public Placement {
 public:
  explicit Dragonfly(const Parts& parts)
      : groups_(parts.option("groups")),
        routers_(parts.option("routers_per_group")),
        per_router_(parts.option("nodes_per_router")) {}
  Point of_switch(int router) const override {
    const int columns = static_cast<int>(std::ceil(std::sqrt(groups_)));
    const int group = router / routers_, row = group / columns, column = group % columns;
    const double width = std::max(per_router_, 1);
    return {column * (routers_ * width + 1) + router % routers_ * width, row * 4.5};
  }
  Point of_node(int node) const override {
    const Point router = of_switch(node / per_router_);
    return {router.x + node % per_router_ - (per_router_ - 1) / 2.0, router.y + 1.5};
  }

 private:
  int groups_, routers_, per_router_;
};

/// The last dimension goes to the right and the one before it down. Planes of the other dimensions
/// are side by side, and nodes are beside their router.
class Torus final : public Placement {
 public:
  explicit Torus(const Parts& parts) {
    const auto sizes = parts.options.at("dimensions").get<std::vector<int>>();
    columns_ = sizes.back();
    rows_ = sizes.size() < 2 ? 1 : sizes[sizes.size() - 2];
  }
  Point of_switch(int router) const override {
    const double column = router % columns_, row = router / columns_ % rows_;
    const double plane_width = 2.2 * columns_ + 1.5;
    const int plane = router / (columns_ * rows_);
    return {column * 2.2 + plane * plane_width, row * 2.2};
  }
  Point of_node(int node) const override {
    const Point router = of_switch(node);
    return {router.x + 1, router.y + 1};
  }

 private:
  int columns_, rows_;
};

/// Boards are placed as in the topology. Trees are to the right of their row and below their
/// column, and nodes are beside their port.
class HammingMesh final : public Placement {
 public:
  explicit HammingMesh(const Parts& parts) {
    const auto board = parts.options.at("board").get<std::vector<int>>(),
               boards = parts.options.at("boards").get<std::vector<int>>();
    a_ = board[0];
    b_ = board[1];
    rows_ = boards[0] * a_;
    columns_ = boards[1] * b_;
  }
  /// The order of switches: ports row by row over all boards, then row trees, then column trees.
  Point of_switch(int index) const override {
    if (index < rows_ * columns_) return of_port(index);
    const int row = index - rows_ * columns_, column = row - rows_;
    if (row < rows_) return {of_port(columns_ - 1).x + 3, of_port(row * columns_).y};
    return {of_port(column).x, of_port((rows_ - 1) * columns_).y + 3};
  }
  /// Nodes are numbered board by board.
  Point of_node(int node) const override {
    const int board = node / (a_ * b_), inside = node % (a_ * b_), boards = columns_ / b_;
    const Point port =
        of_port((board / boards * a_ + inside / b_) * columns_ + board % boards * b_ + inside % b_);
    return {port.x + 1, port.y + 1};
  }

 private:
  Point of_port(int port) const {
    const int row = port / columns_, column = port % columns_;
    const int board_row = row / a_, board_column = column / b_;
    return {column * 2.2 + board_column * 0.8, row * 2.2 + board_row * 0.8};
  }
  int a_, b_, rows_, columns_;  // size of a board; size of the whole mesh
};

/// Regions are in rows, and their nodes are in columns below them.
class Wan final : public Placement {
 public:
  explicit Wan(const Parts& parts) {
    for (const Json& region : parts.options.at("regions")) {
      const auto nodes = region.at("nodes").get<std::size_t>();
      begins_.push_back(static_cast<int>(region_of_.size()));
      region_of_.resize(region_of_.size() + nodes, static_cast<int>(begins_.size()) - 1);
      most_ = std::max(most_, static_cast<int>(nodes));
    }
  }
  Point of_switch(int region) const override {
    const int across = static_cast<int>(std::ceil(std::sqrt(begins_.size())));
    const int rows = (most_ - 1) / columns(), row = region / across, column = region % across;
    return {column * (columns() + 1.5), row * (3.5 + rows * 1.2)};
  }
  Point of_node(int node) const override {
    const int region = region_of_[static_cast<std::size_t>(node)];
    const int i = node - begins_[static_cast<std::size_t>(region)];
    const int row = i / columns(), column = i % columns();
    const Point top = of_switch(region);
    return {top.x + column - (columns() - 1) / 2.0, top.y + 1.5 + row * 1.2};
  }

 private:
  int columns() const { return std::min(most_, 3); }  // columns of a region's nodes
  std::vector<int> region_of_, begins_;               // by node, by region
  int most_ = 1;                                      // largest number of nodes in a region
};

template <class T>
std::unique_ptr<Placement> make(const Parts& parts) {
  return std::make_unique<T>(parts);
}

std::unique_ptr<Placement> placement_of(const std::string& kind, const Parts& parts) {
  static const std::map<std::string, std::function<std::unique_ptr<Placement>(const Parts&)>> all =
      {{"flat", make<Flat>},
       {"fat_tree",
        [](const Parts& p) {
          return p.options.contains("k") ? make<ThreeLevels>(p) : make<TwoLevels>(p);
        }},
       {"dragonfly", make<Dragonfly>},
       {"torus", make<Torus>},
       {"hammingmesh", make<HammingMesh>},
       {"wan", make<Wan>}};
  const auto found = all.find(kind);
  TRIGRAM_CHECK(found != all.end(), "it is not known how to draw the topology {}", kind);
  return found->second(parts);
}

}  // namespace

std::vector<Point> place_vertices(const Cluster& cluster, const Network& network) {
  const std::vector<Vertex>& vertices = network.vertices();
  std::vector<Point> places(vertices.size());
  if (network.nodes() == 1) return places;  // there is no topology: everything is inside the node
  const auto switches = std::count_if(vertices.begin(), vertices.end(),
                                      [](const Vertex& vertex) { return vertex.node < 0; });
  const auto placement =
      placement_of(cluster.topology.kind,
                   {cluster.topology.options, network.nodes(), static_cast<int>(switches)});
  int next = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    places[i] =
        vertices[i].node >= 0 ? placement->of_node(vertices[i].node) : placement->of_switch(next++);
  return places;
}

}  // namespace trigram
