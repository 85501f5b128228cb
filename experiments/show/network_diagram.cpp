#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "experiments/show/network_drawing.h"
#include "experiments/show/svg.h"

namespace trigram {
namespace {

constexpr double kFont = 12, kBoxHeight = 40, kStep = 90, kLane = 22;

/// The vertices of one tier. Everything inside nodes is a single tier.
struct Tier {
  std::string key;   // Vertex::tier; empty for the nodes
  std::string name;  // plural, such as "edge switches"
  int count = 0;
};

std::string plural(const std::string& one) { return one + (one.ends_with("ch") ? "es" : "s"); }

/// The links between two tiers that have the same bandwidth. Each direction counts as a link.
struct Bundle {
  std::size_t a, b;
  double Bps;
  int links;
};

class Diagram {
 public:
  explicit Diagram(const Network& network) {
    const int per_node = network.ranks() / network.nodes();
    tiers_.push_back({"", per_node == 1 ? "workers" : fmt::format("nodes of {} workers", per_node),
                      network.nodes()});
    for (const Vertex& vertex : network.vertices())
      tier_of_vertex_.push_back(vertex.node >= 0 ? 0 : add_to_tier(vertex.tier));
    for (const Link& link : network.links()) {
      const bool inside = network.vertex(link.from).node >= 0 && network.vertex(link.to).node >= 0;
      if (inside || link.unlimited()) continue;
      const auto [a, b] = std::minmax(tier_of_vertex_[static_cast<std::size_t>(link.from)],
                                      tier_of_vertex_[static_cast<std::size_t>(link.to)]);
      ++links_[{a, b, link.bandwidth_Bps}];
    }
  }

  std::string draw() {
    double width = 0;
    for (const Tier& t : tiers_) width = std::max(width, text_width(label(t), kFont) + 20);
    for (std::size_t i = 0; i < tiers_.size(); ++i) {
      svg_.box({0, height_of(i)}, width, kBoxHeight, "white", i == 0 ? 0 : 8, i == 0 ? 2 : 1);
      svg_.text({0, height_of(i) + kFont / 3}, label(tiers_[i]), kFont, Svg::Anchor::middle);
    }
    double lane = width / 2;
    double row = height_of(0) + kBoxHeight;
    int number = 0;
    const std::vector<Bundle> all = bundles();
    const bool are_means = all.size() < links_.size();
    for (const Bundle& bundle : all) {
      lane += kLane;
      ++number;
      connect(bundle, width / 2, lane, number);
      row += 1.5 * kFont;
      svg_.text({-width / 2, row}, fmt::format("{}  {}", number, text_of(bundle, are_means)), kFont,
                Svg::Anchor::start);
    }
    return svg_.document();
  }

 private:
  /// Counts a vertex of the tier, which is created if necessary. Returns the tier's index.
  std::size_t add_to_tier(const std::string& key) {
    auto found = std::ranges::find(tiers_, key, &Tier::key);
    if (found == tiers_.end()) found = tiers_.insert(tiers_.end(), {key, plural(key), 0});
    ++found->count;
    return static_cast<std::size_t>(found - tiers_.begin());
  }
  static std::string label(const Tier& t) { return fmt::format("{} {}", t.count, t.name); }
  /// The height at which a tier is drawn. Nodes are at the bottom.
  static double height_of(std::size_t tier) { return -kStep * static_cast<double>(tier); }

  /// The links between tiers. If there are many bandwidths, combines all links between two tiers.
  std::vector<Bundle> bundles() const {
    std::vector<Bundle> all;
    for (const auto& [key, links] : links_)
      all.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), links});
    constexpr std::size_t kMost = 12;
    if (all.size() <= kMost) return all;
    std::vector<Bundle> combined;
    for (const Bundle& bundle : all) {
      if (!combined.empty() && combined.back().a == bundle.a && combined.back().b == bundle.b) {
        combined.back().links += bundle.links;
        combined.back().Bps += bundle.links * bundle.Bps;
      } else {
        combined.push_back(bundle);
        combined.back().Bps *= bundle.links;
      }
    }
    for (Bundle& bundle : combined) bundle.Bps /= bundle.links;
    return combined;
  }

  /// `is_mean` is true if the bandwidth is a mean over several links.
  std::string text_of(const Bundle& bundle, bool is_mean) const {
    const std::string links = fmt::format("{} links of {}{}", bundle.links, is_mean ? "about " : "",
                                          short_bandwidth(bundle.Bps));
    if (bundle.a == bundle.b) return fmt::format("among {}: {}", tiers_[bundle.a].name, links);
    return fmt::format("between {} and {}, each way together: {}", tiers_[bundle.a].name,
                       tiers_[bundle.b].name, links);
  }

  void connect(const Bundle& bundle, double edge, double lane, int number) {
    // If several lines end at the same box, each ends at a different height.
    const double shift = 4 * (number % 5) - 14.0;
    const double top = height_of(bundle.b) + shift;
    const double bottom = height_of(bundle.a) + shift + (bundle.a == bundle.b ? 18 : 0);
    svg_.line({edge, top}, {lane, top}, 1);
    svg_.line({lane, top}, {lane, bottom}, 1);
    svg_.line({lane, bottom}, {edge, bottom}, 1);
    svg_.text({lane + 3, (top + bottom) / 2 + kFont / 3}, std::to_string(number), kFont,
              Svg::Anchor::start);
  }

  std::vector<Tier> tiers_;
  std::vector<std::size_t> tier_of_vertex_;
  /// Number of links by the two tiers and the bandwidth.
  std::map<std::tuple<std::size_t, std::size_t, double>, int> links_;
  Svg svg_;
};

}  // namespace

std::string draw_diagram(const Network& network) { return Diagram(network).draw(); }

}  // namespace trigram
