#include "experiments/show/network_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "experiments/show/svg.h"
#include "experiments/show/topology_placement.h"

namespace trigram {
namespace {

constexpr int kMostShapes = 300, kMostWorkers = 600;
constexpr double kNodeFont = 9, kWorker = 20, kPadding = 5;

struct Shape {
  Point centre;
  double width, height;
};

/// The bandwidths of the links, and the line width for each of them.
class LineStyles {
 public:
  /// Adds a link. `same_back` is true if the link in the other direction has the same bandwidth.
  void add(double Bps, bool same_back) {
    (same_back ? found_[Bps].each_way : found_[Bps].one_way) = true;
  }
  double width(double Bps) const {
    const double widest = std::log(found_.rbegin()->first);
    const double narrowest = std::log(found_.begin()->first);
    if (widest == narrowest) return 1.2;
    return 0.7 + 2 * (std::log(Bps) - narrowest) / (widest - narrowest);
  }
  /// Which links have a bandwidth.
  struct Directions {
    bool each_way = false, one_way = false;
    const char* text() const {
      if (!one_way) return "each way";
      return each_way ? "each way, or one way, on the right of a pair"
                      : "one way, on the right of a pair";
    }
  };
  const std::map<double, Directions>& found() const { return found_; }

 private:
  std::map<double, Directions> found_;
};

class Drawing {
 public:
  Drawing(const Cluster& cluster, const Network& network)
      : network_(network), per_node_(network.ranks() / network.nodes()) {
    const int columns = std::min(per_node_, 4), rows = (per_node_ + 3) / 4;
    node_width_ = columns * kWorker + 2 * kPadding;
    if (per_node_ > 1) node_width_ = std::max(node_width_, text_width(title(999), kNodeFont) + 4);
    node_height_ = rows * kWorker + 2 * kPadding + (per_node_ > 1 ? kNodeFont + 2 : 0);
    unit_ = {node_width_ + 12, std::max(node_height_ + 12, 34.0)};
    const std::vector<Point> places = place_vertices(cluster, network);
    for (std::size_t i = 0; i < places.size(); ++i) place(network.vertices()[i], places[i]);
  }

  std::string draw() {
    for (const Link& link : network_.links())
      if (is_visible(link)) bandwidths_[{link.from, link.to}] = link.bandwidth_Bps;
    for (const Link& link : network_.links())
      if (is_visible(link)) styles_.add(link.bandwidth_Bps, same_back(link));
    draw_links();
    for (int node = 0; node < network_.nodes(); ++node) draw_node(node);
    draw_switches();
    draw_legend();
    return svg_.document();
  }

 private:
  static std::string title(int node) { return fmt::format("node {}", node); }
  Point pixels(Point p) const { return {p.x * unit_.x, p.y * unit_.y}; }

  /// Everything inside a node is drawn at the place of the node.
  void place(const Vertex& vertex, Point at) {
    if (vertex.node >= 0) {
      shapes_.push_back({pixels(at), node_width_, node_height_});
      return;
    }
    const double width = std::max(text_width(vertex.name, kNodeFont) + 8, 22.0);
    shapes_.push_back({pixels(at), width, 18});
  }

  bool is_visible(const Link& link) const {
    const Vertex &from = network_.vertex(link.from), &to = network_.vertex(link.to);
    return !link.unlimited() && (from.node < 0 || to.node < 0);
  }

  bool same_back(const Link& link) const {
    const auto back = bandwidths_.find({link.to, link.from});
    return back != bandwidths_.end() && back->second == link.bandwidth_Bps;
  }

  const Shape& shape(VertexId id) const { return shapes_[static_cast<std::size_t>(id)]; }

  void draw_links() {
    std::set<std::pair<std::pair<double, double>, std::pair<double, double>>> drawn;
    for (const Link& link : network_.links()) {
      if (!is_visible(link)) continue;
      Point a = shape(link.from).centre, b = shape(link.to).centre;
      const double width = styles_.width(link.bandwidth_Bps),
                   length = std::hypot(a.x - b.x, a.y - b.y);
      // Directions with the same bandwidth, and all NICs of a node, share one line. Other links
      // are on the right of the way from a to b, where x grows to the right and y down.
      if (!same_back(link) && length > 0) {
        const Point aside{2.5 * (a.y - b.y) / length, 2.5 * (b.x - a.x) / length};
        a = {a.x + aside.x, a.y + aside.y};
        b = {b.x + aside.x, b.y + aside.y};
      }
      const auto ends = std::minmax({std::pair{a.x, a.y}, std::pair{b.x, b.y}});
      if (!drawn.insert({ends.first, ends.second}).second) continue;
      if (crosses_shape(a, b)) svg_.curve(a, b, std::min(0.12 * length + 14, 60.0), width);
      else svg_.line(a, b, width);
    }
  }

  /// True if the straight line between two shapes crosses the middle of a third shape.
  bool crosses_shape(Point a, Point b) const {
    const double dx = b.x - a.x, dy = b.y - a.y, length = std::hypot(dx, dy);
    return std::ranges::any_of(shapes_, [&](const Shape& s) {
      const double px = s.centre.x - a.x, py = s.centre.y - a.y;
      const double along = (px * dx + py * dy) / length, off = std::abs(px * dy - py * dx) / length;
      return along > 5 && along < length - 5 && off < 8;
    });
  }

  void draw_node(int node) {
    const int first = node * per_node_;
    const Shape& box = shape(network_.worker(first));
    svg_.box(box.centre, box.width, box.height, "white", 0, 1.6);
    double top = box.centre.y - box.height / 2 + kPadding;
    if (per_node_ > 1) {
      svg_.text({box.centre.x, top + kNodeFont - 1}, title(node), kNodeFont, Svg::Anchor::middle);
      top += kNodeFont + 2;
    }
    const int columns = std::min(per_node_, 4);
    for (int i = 0; i < per_node_; ++i) {
      const int column = i % columns, row = i / columns;
      const Point at{box.centre.x + (column - (columns - 1) / 2.0) * kWorker,
                     top + (row + 0.5) * kWorker};
      if (per_node_ > 1) svg_.box(at, kWorker - 4, kWorker - 4, "white", 0, 0.6);
      svg_.text({at.x, at.y + 3}, std::to_string(first + i), first + i > 999 ? 6 : 8,
                Svg::Anchor::middle);
    }
  }

  void draw_switches() {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const Vertex& vertex = network_.vertices()[i];
      if (vertex.node >= 0) continue;
      if (std::ranges::find(tiers_, vertex.tier) == tiers_.end()) tiers_.push_back(vertex.tier);
      svg_.box(shapes_[i].centre, shapes_[i].width, shapes_[i].height, fill(vertex.tier), 7);
      svg_.text({shapes_[i].centre.x, shapes_[i].centre.y + 3}, vertex.name, kNodeFont,
                Svg::Anchor::middle);
    }
  }
  std::string fill(const std::string& tier) const {
    const auto index = std::ranges::find(tiers_, tier) - tiers_.begin();
    const char* shades[] = {"#ffffff", "#d8d8d8", "#b0b0b0", "#ececec"};
    return shades[index % 4];
  }

  /// Draws, below everything else, the meaning of shapes and lines.
  void draw_legend() {
    double bottom = -1e300, left = 1e300;
    for (const Shape& s : shapes_) {
      bottom = std::max(bottom, s.centre.y + s.height / 2);
      left = std::min(left, s.centre.x - s.width / 2);
    }
    double row = bottom + 40;
    const auto entry = [&](const std::string& words) {
      svg_.text({left + 36, row + 3}, words, kNodeFont + 1, Svg::Anchor::start);
      row += 20;
    };
    svg_.box({left + 14, row}, 14, 14, "white", 0, per_node_ > 1 ? 0.6 : 1.6);
    entry("a worker, with its rank");
    for (const std::string& tier : tiers_) {
      svg_.box({left + 14, row}, 26, 14, fill(tier), 7);
      entry(tier);
    }
    // If there are many bandwidths, shows only the widest and the narrowest.
    const auto& found = styles_.found();
    constexpr std::size_t kMost = 5;
    for (auto i = found.rbegin(); i != found.rend(); ++i) {
      const bool end = i == found.rbegin() || std::next(i) == found.rend();
      if (found.size() > kMost && !end) continue;
      svg_.line({left, row}, {left + 28, row}, styles_.width(i->first));
      entry(fmt::format(
          "{} {}{}", short_bandwidth(i->first), i->second.text(),
          found.size() > kMost ? (i == found.rbegin() ? ", the widest" : ", the narrowest") : ""));
    }
  }

  const Network& network_;
  int per_node_;
  double node_width_ = 0, node_height_ = 0;
  Point unit_;
  std::vector<Shape> shapes_;  // by vertex
  std::vector<std::string> tiers_;
  std::map<std::pair<VertexId, VertexId>, double> bandwidths_;  // of visible links, by their ends
  LineStyles styles_;
  Svg svg_;
};

}  // namespace

std::string short_bandwidth(double Bps) { return fmt::format("{:.4g} GB/s", Bps / 1e9); }

std::string draw(const Cluster& cluster, const Network& network) {
  const auto switches = std::ranges::count_if(network.vertices(), [](const Vertex& vertex) {
    return vertex.kind == Vertex::Kind::network_switch;
  });
  const bool small = network.nodes() + switches <= kMostShapes && network.ranks() <= kMostWorkers;
  return small ? Drawing(cluster, network).draw() : draw_diagram(network);
}

}  // namespace trigram
