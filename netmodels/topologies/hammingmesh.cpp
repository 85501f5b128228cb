// HammingMesh (Hoefler et al., SC 2022, arXiv 2209.01346): x by y boards, each a mesh of a by b
// accelerators. Every row of accelerators has a tree, to which the west and east edges of its
// boards are linked, and every column has a tree for the north and south edges. So there are a x
// row trees and b y column trees. Each accelerator is one node of the cluster.
//
// Minimal routing: a message goes along the row first, then along the column. Both times it takes
// the mesh of the board or the tree, whichever needs fewer links. The paper routes adaptively among
// minimal paths, and its large trees have two levels; here a tree is one switch that is never the
// bottleneck.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

struct HammingMeshOptions {
  std::vector<std::int64_t> board, boards;
  SwitchLink mesh, tree;
};

FieldTable<HammingMeshOptions> fields() {
  using H = HammingMeshOptions;
  const auto pair = list_of(integer(1, 1 << 20));
  return FieldTable<H>{}
      .required("board", &H::board, pair, "[a, b]: rows and columns of accelerators on a board")
      .required("boards", &H::boards, pair, "[x, y]: rows and columns of boards")
      .include(&H::mesh, switch_link_fields("", "links of the boards"))
      .include(&H::tree, switch_link_fields("tree_", "links between boards and trees"));
}

void check(const HammingMeshOptions& o, const AttachedNodes& attached, const std::string& pointer) {
  std::int64_t product = 1;
  for (const auto& [key, sizes] : {std::pair{"board", o.board}, {"boards", o.boards}}) {
    if (sizes.size() != 2)
      throw ConfigError(child(pointer, key),
                        fmt::format("expected rows and columns, not {} numbers", sizes.size()));
    for (const std::int64_t size : sizes) product = std::min(product * size, attached.count + 1);
  }
  if (product != attached.count)
    throw ConfigError(
        child(pointer, "boards"),
        fmt::format("{} x {} boards of {} x {} do not have the cluster's {} nodes", o.boards[0],
                    o.boards[1], o.board[0], o.board[1], attached.count));
}

class HammingMesh final : public Topology {
 public:
  HammingMesh(const HammingMeshOptions& o, const AttachedNodes& attached, Graph& graph)
      : a_(static_cast<int>(o.board[0])),
        b_(static_cast<int>(o.board[1])),
        rows_(static_cast<int>(o.boards[0]) * a_),
        columns_(static_cast<int>(o.boards[1]) * b_),
        tree_Bps_(o.tree.bandwidth(attached)),
        first_(static_cast<VertexId>(graph.vertices.size())) {
    for (int port = 0; port < rows_ * columns_; ++port)
      graph.add(switch_vertex("accelerator port", fmt::format("{}.{}", row(port), column(port))));
    for (int r = 0; r < rows_; ++r) graph.add(switch_vertex("row tree", std::to_string(r)));
    for (int c = 0; c < columns_; ++c) graph.add(switch_vertex("column tree", std::to_string(c)));
    add_lines(o, attached, graph);
  }

  VertexId switch_of(int node) const override { return first_ + port_of(node); }

  void route(int source, int destination, std::vector<LinkId>& links) const override {
    const int from = port_of(source), to = port_of(destination), r = row(from), c = column(to);
    route_along({links_of_rows_ + r * links_per_line(columns_, b_), b_, destination}, column(from),
                c, links);
    route_along({links_of_columns_ + c * links_per_line(rows_, a_), a_, destination}, r, row(to),
                links);
  }

  /// The minimum over the cuts around all rectangles of u x v boards. A tree that is linked to
  /// boards inside and outside of the rectangle (two links per board) loses the links of the side
  /// that has fewer.
  Bisection bisection(double node_Bps) const override {
    const int x = rows_ / a_, y = columns_ / b_;
    Bisection least{std::numeric_limits<double>::infinity(), ""};
    for (int u = 0; u <= x; ++u)
      for (int v = 0; v <= y; ++v) {
        const int links = 2 * (u * a_ * std::min(v, y - v) + v * b_ * std::min(u, x - u));
        const double off = std::abs(u * v * a_ * b_ - rows_ * columns_ / 2);
        const double Bps = tree_Bps_ * links + off * node_Bps;
        if (Bps < least.bandwidth_Bps)
          least = {Bps, fmt::format("a rectangle of {} x {} boards", u, v)};
      }
    return or_at_nics(least, rows_ * columns_, node_Bps);
  }

 private:
  // Nodes are numbered board by board; ports are numbered row by row over all boards.
  int port_of(int node) const {
    const int board = node / (a_ * b_), inside = node % (a_ * b_), boards = columns_ / b_;
    return (board / boards * a_ + inside / b_) * columns_ + board % boards * b_ + inside % b_;
  }
  int row(int port) const { return port / columns_; }
  int column(int port) const { return port % columns_; }
  /// Number of links of a line of `length` accelerators, with `side` of them on each board.
  static int links_per_line(int length, int side) { return length / side * (2 * (side - 1) + 4); }

  /// A row or a column of accelerators. Its links are ordered board by board. On each board, the
  /// links between neighbours come first (in both directions), then the links from the first
  /// accelerator to the tree and back, then the links from the last accelerator to the tree and
  /// back.
  struct Line {
    LinkId first_link;
    int side;         // accelerators of one board along the line
    int destination;  // node number, which breaks ties
    /// The first link of the board of an accelerator.
    LinkId board(int position) const {
      return first_link + links_per_line(position / side * side, side);
    }
    /// The link from an accelerator to the next one on its board; the reverse link has the next id.
    LinkId neighbours(int position) const { return board(position) + 2 * (position % side); }
    LinkId to_tree(int position, bool last) const {
      return board(position) + 2 * (side - 1) + (last ? 2 : 0);
    }
    /// True if the tree is nearer through the board's last accelerator than through its first.
    bool nearer_at_end(int position) const {
      const int before = position % side, after = side - 1 - before;
      return after < before || (after == before && destination % 2 == 1);
    }
    int links_to_tree(int position) const {
      return 1 + std::min(position % side, side - 1 - position % side);
    }
  };

  /// Appends the links between two accelerators of a board, over the mesh.
  static void walk(const Line& line, int from, int to, std::vector<LinkId>& links) {
    for (; from < to; ++from) links.push_back(line.neighbours(from));
    for (; from > to; --from) links.push_back(line.neighbours(from - 1) + 1);
  }

  /// Appends the links between two accelerators of a line.
  static void route_along(const Line& line, int from, int to, std::vector<LinkId>& links) {
    const bool same_board = from / line.side == to / line.side;
    if (same_board && std::abs(to - from) <= line.links_to_tree(from) + line.links_to_tree(to)) {
      walk(line, from, to, links);
      return;
    }
    const bool leaves_at_end = line.nearer_at_end(from), enters_at_end = line.nearer_at_end(to);
    const auto edge = [&](int position, bool end) {
      return position / line.side * line.side + (end ? line.side - 1 : 0);
    };
    walk(line, from, edge(from, leaves_at_end), links);
    links.push_back(line.to_tree(from, leaves_at_end));
    links.push_back(line.to_tree(to, enters_at_end) + 1);
    walk(line, edge(to, enters_at_end), to, links);
  }

  void add_lines(const HammingMeshOptions& o, const AttachedNodes& attached, Graph& graph) {
    const double mesh_Bps = o.mesh.bandwidth(attached);
    const auto add_line = [&](int first, int stride, int length, int side, VertexId tree) {
      for (int board = 0; board < length; board += side) {
        const auto port = [&](int i) { return first_ + first + (board + i) * stride; };
        for (int i = 0; i + 1 < side; ++i)
          graph.add_duplex(port(i), port(i + 1), mesh_Bps, o.mesh.latency_s);
        for (const int edge : {0, side - 1})
          graph.add_duplex(port(edge), tree, tree_Bps_, o.tree.latency_s);
      }
    };
    const VertexId row_trees = first_ + rows_ * columns_, column_trees = row_trees + rows_;
    links_of_rows_ = static_cast<LinkId>(graph.links.size());
    for (int r = 0; r < rows_; ++r) add_line(r * columns_, 1, columns_, b_, row_trees + r);
    links_of_columns_ = static_cast<LinkId>(graph.links.size());
    for (int c = 0; c < columns_; ++c) add_line(c, columns_, rows_, a_, column_trees + c);
  }

  int a_, b_, rows_, columns_;  // a, b: size of a board; rows, columns: size of the whole mesh
  double tree_Bps_;
  VertexId first_;
  LinkId links_of_rows_ = 0, links_of_columns_ = 0;
};

}  // namespace

TopologyEntry hammingmesh_entry() {
  return topology_entry<HammingMesh>(
      "hammingmesh",
      "boards with meshes of accelerators; trees connect the rows and columns of boards", fields(),
      check);
}

}  // namespace trigram
