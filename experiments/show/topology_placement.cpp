#include "experiments/show/topology_placement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "core/check.h"

namespace trigram {
namespace {

/// The places at which the switches and the nodes of a topology are drawn. Switches are numbered in
/// the order in which the topology adds them to the graph.
struct Placement {
  std::function<Point(int index)> of_switch;
  std::function<Point(int node)> of_node;
};

/// The parts that a placement arranges.
struct Parts {
  const Json& options;  // resolved options of the topology
  int nodes, switches;
  int option(const char* key) const { return options.at(key).get<int>(); }
};

/// The switch is in the middle, with one row of nodes above it and one below it.
Placement place_flat(const Parts& parts) {
  const int columns = std::max((parts.nodes + 1) / 2, 1);
  return {[=](int) -> Point {
            return {(columns - 1) / 2.0, 1.5};
          },
          [=](int node) -> Point {
            return {static_cast<double>(node % columns), node < columns ? 0.0 : 3.0};
          }};
}

/// Spines are above leaves, and leaves above nodes.
Placement place_two_levels(const Parts& parts) {
  const int per_leaf = parts.option("nodes_per_leaf"), leaves = parts.nodes / per_leaf;
  const int spines = parts.switches - leaves;
  const double width = parts.nodes;
  return {[=](int index) -> Point {
            if (index < leaves) return {(index + 0.5) * per_leaf - 0.5, 2.5};
            const int spine = index - leaves;
            return {(spine + 0.5) * width / spines - 0.5, 0};
          },
          [](int node) -> Point {
            return {static_cast<double>(node), 4};
          }};
}

/// Core switches are above aggregation switches, and these above edge switches, pod by pod.
Placement place_three_levels(const Parts& parts) {
  const int k = parts.option("k"), half = k / 2;
  return {[=](int index) -> Point {
            const double pod_width = half * half;
            // Number of edge switches; there are as many aggregation switches.
            const int per_level = k * half;
            if (index < 2 * per_level) {
              const int pod = index % per_level / half, i = index % half;
              return {pod * pod_width + (i + 0.5) * half - 0.5, index < per_level ? 4.5 : 3};
            }
            const double step = k * pod_width / (half * half);
            return {(index - 2 * per_level + 0.5) * step - 0.5, 0};
          },
          [](int node) -> Point {
            return {static_cast<double>(node), 6};
          }};
}

Placement place_fat_tree(const Parts& parts) {
  return parts.options.contains("k") ? place_three_levels(parts) : place_two_levels(parts);
}

/// Groups are in rows, the routers of a group side by side, and nodes below their router.
Placement place_dragonfly(const Parts& parts) {
  const int groups = parts.option("groups"), routers = parts.option("routers_per_group");
  const int per_router = parts.option("nodes_per_router");
  const auto of_router = [=](int router) -> Point {
    const int columns = static_cast<int>(std::ceil(std::sqrt(groups)));
    const int group = router / routers, row = group / columns, column = group % columns;
    const double width = std::max(per_router, 1);
    return {column * (routers * width + 1) + router % routers * width, row * 4.5};
  };
  return {of_router, [=](int node) -> Point {
            const Point router = of_router(node / per_router);
            return {router.x + node % per_router - (per_router - 1) / 2.0, router.y + 1.5};
          }};
}

/// The last dimension goes to the right and the one before it down. Planes of the other dimensions
/// are side by side, and nodes are beside their router.
Placement place_torus(const Parts& parts) {
  const auto sizes = parts.options.at("dimensions").get<std::vector<int>>();
  const int columns = sizes.back(), rows = sizes.size() < 2 ? 1 : sizes[sizes.size() - 2];
  const auto of_router = [=](int router) -> Point {
    const double column = router % columns, row = router / columns % rows;
    const double plane_width = 2.2 * columns + 1.5;
    const int plane = router / (columns * rows);
    return {column * 2.2 + plane * plane_width, row * 2.2};
  };
  return {of_router, [=](int node) -> Point {
            const Point router = of_router(node);
            return {router.x + 1, router.y + 1};
          }};
}

/// Boards are placed as in the topology. Trees are to the right of their row and below their
/// column, and nodes are beside their port.
Placement place_hammingmesh(const Parts& parts) {
  const auto board_sizes = parts.options.at("board").get<std::vector<int>>(),
             board_counts = parts.options.at("boards").get<std::vector<int>>();
  const int a = board_sizes[0], b = board_sizes[1];
  const int boards = board_counts[1];  // boards in a row
  const int rows = board_counts[0] * a, columns = boards * b;
  const auto of_port = [=](int port) -> Point {
    const int row = port / columns, column = port % columns;
    const int board_row = row / a, board_column = column / b;
    return {column * 2.2 + board_column * 0.8, row * 2.2 + board_row * 0.8};
  };
  // Switches are the ports, row by row over all boards, then the row trees, then the column trees.
  const auto of_switch = [=](int index) -> Point {
    if (index < rows * columns) return of_port(index);
    const int row = index - rows * columns, column = row - rows;
    if (row < rows) return {of_port(columns - 1).x + 3, of_port(row * columns).y};
    return {of_port(column).x, of_port((rows - 1) * columns).y + 3};
  };
  return {of_switch, [=](int node) -> Point {  // nodes are numbered board by board
            const int board = node / (a * b), inside = node % (a * b);
            const Point port = of_port((board / boards * a + inside / b) * columns +
                                       board % boards * b + inside % b);
            return {port.x + 1, port.y + 1};
          }};
}

/// Regions are in rows, their nodes are in columns below them, and their gateways are above them.
Placement place_wan(const Parts& parts) {
  std::vector<int> region_of, begins, gateways;  // region by node, first node and region of gateway
  int most = 1;                                  // largest number of nodes in a region
  for (const Json& region : parts.options.at("regions")) {
    const auto nodes = region.at("nodes").get<std::size_t>();
    if (region.contains("up") || region.contains("down"))
      gateways.push_back(static_cast<int>(begins.size()));
    begins.push_back(static_cast<int>(region_of.size()));
    region_of.resize(region_of.size() + nodes, static_cast<int>(begins.size()) - 1);
    most = std::max(most, static_cast<int>(nodes));
  }
  const int columns = std::min(most, 3);  // columns of nodes in a region
  const int across = static_cast<int>(std::ceil(std::sqrt(begins.size())));
  const auto place_region = [=](int region) -> Point {
    const int rows = (most - 1) / columns, row = region / across, column = region % across;
    return {column * (columns + 1.5), row * (3.5 + rows * 1.2)};
  };
  const auto place_switch = [=](int i) -> Point {
    const auto gateway = static_cast<std::size_t>(i) - begins.size();
    if (i < static_cast<int>(begins.size())) return place_region(i);
    const Point region = place_region(gateways[gateway]);
    return {region.x + 0.8, region.y - 0.8};
  };
  return {place_switch, [=](int node) -> Point {
            const int region = region_of[static_cast<std::size_t>(node)];
            const int i = node - begins[static_cast<std::size_t>(region)];
            const int row = i / columns, column = i % columns;
            const Point top = place_region(region);
            return {top.x + column - (columns - 1) / 2.0, top.y + 1.5 + row * 1.2};
          }};
}

Placement placement_of(const std::string& kind, const Parts& parts) {
  static const std::map<std::string, Placement (*)(const Parts&)> placements = {
      {"flat", place_flat},   {"fat_tree", place_fat_tree},       {"dragonfly", place_dragonfly},
      {"torus", place_torus}, {"hammingmesh", place_hammingmesh}, {"wan", place_wan}};
  const auto found = placements.find(kind);
  TRIGRAM_CHECK(found != placements.end(), "it is not known how to draw the topology {}", kind);
  return found->second(parts);
}

}  // namespace

std::vector<Point> place_vertices(const Cluster& cluster, const Network& network) {
  const std::vector<Vertex>& vertices = network.vertices();
  std::vector<Point> places(vertices.size());
  if (network.nodes() == 1) return places;  // there is no topology: everything is inside the node
  const auto switches =
      std::ranges::count_if(vertices, [](const Vertex& vertex) { return vertex.node < 0; });
  const auto placement =
      placement_of(cluster.topology.kind,
                   {cluster.topology.options, network.nodes(), static_cast<int>(switches)});
  int next = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    places[i] =
        vertices[i].node >= 0 ? placement.of_node(vertices[i].node) : placement.of_switch(next++);
  return places;
}

}  // namespace trigram
