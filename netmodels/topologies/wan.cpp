// Regions of nodes. Each pair of regions has its own link in each direction, which all messages
// between the two regions share. A region may have an access link, with a bandwidth for each
// direction, which all messages to and from other regions share. Inside a region only NICs limit
// messages.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

struct Region {
  std::string name;
  std::int64_t nodes = 0;
  double up_Bps = 0, down_Bps = 0;  // of the access link; 0: no limit
  bool has_access_link() const { return up_Bps > 0 || down_Bps > 0; }
  double up() const { return limit(up_Bps); }
  double down() const { return limit(down_Bps); }

 private:
  static double limit(double Bps) {
    return Bps > 0 ? Bps : std::numeric_limits<double>::infinity();
  }
};

enum class DelayIs { one_way, round_trip };

using Matrix = std::vector<std::vector<double>>;
constexpr double kAbsent = -1;

struct WanOptions {
  std::vector<Region> regions;
  Matrix delay_s, bandwidth_Bps, egress_price_per_GB;
  DelayIs delay_is = DelayIs::one_way;
};

/// A number, or null for an absent value.
OptionType<double> entry(const OptionType<double>& given) {
  return {[given](const Json& j, const std::string& pointer) {
            return j.is_null() ? kAbsent : given.parse(j, pointer);
          },
          [given](const double& value) { return value == kAbsent ? Json() : given.dump(value); },
          [given]() -> Json {
            return {{"anyOf", {given.schema(), {{"type", "null"}}}}};
          }};
}

FieldTable<WanOptions> fields() {
  const auto matrix = [](const OptionType<double>& number) {
    return list_of(list_of(entry(number)));
  };
  constexpr double kHighestPrice = 1e9;
  const auto access =
      dumped_if(quantity(Dimension::bandwidth, true), [](double Bps) { return Bps > 0; });
  const auto region =
      FieldTable<Region>{}
          .required("name", &Region::name, text(), "name of the region")
          .required("nodes", &Region::nodes, integer(1, 1 << 20),
                    "nodes in the region; the cluster's nodes are numbered region by region")
          .field("up", &Region::up_Bps, access,
                 "bandwidth that all messages from the region to others share; by default only "
                 "NICs and the links between regions limit them")
          .field("down", &Region::down_Bps, access,
                 "bandwidth that all messages from other regions to the region share");
  return FieldTable<WanOptions>{}
      .required("regions", &WanOptions::regions, list_of(nested(region)), "the regions")
      .required(
          "delay_is", &WanOptions::delay_is,
          one_of<DelayIs>({{"one_way", DelayIs::one_way}, {"round_trip", DelayIs::round_trip}}),
          "whether `delay` is of one way or of a round trip, half of which is then used")
      .required("delay", &WanOptions::delay_s, matrix(quantity(Dimension::duration)),
                "delay from the region of the row to the region of the column, added to the "
                "latency of `inter`; null on the diagonal")
      .required(
          "bandwidth", &WanOptions::bandwidth_Bps, matrix(quantity(Dimension::bandwidth, true)),
          "bandwidth from the region of the row to the region of the column; null on the diagonal")
      .field("egress_price_per_GB", &WanOptions::egress_price_per_GB,
             dumped_if(matrix(number(0, kHighestPrice)),
                       [](const Matrix& prices) { return !prices.empty(); }),
             "US dollars for 1e9 bytes from the region of the row to the region of the column; "
             "null on the diagonal, and where the price of `inter` applies");
}

/// Throws ConfigError unless the matrix is square and has no values on the diagonal.
void check_square(const Matrix& matrix, const std::vector<Region>& regions,
                  const std::string& pointer) {
  const std::size_t n = regions.size();
  if (matrix.size() != n)
    throw ConfigError(pointer, fmt::format("expected a square matrix with {} rows, as many as "
                                           "regions, not {}",
                                           n, matrix.size()));
  for (std::size_t i = 0; i < n; ++i) {
    const std::string row = child(pointer, std::to_string(i));
    if (matrix[i].size() != n)
      throw ConfigError(row, fmt::format("expected a square matrix with {} columns, as many as "
                                         "regions, not {}",
                                         n, matrix[i].size()));
    if (matrix[i][i] != kAbsent)
      throw ConfigError(
          child(row, std::to_string(i)),
          fmt::format("expected null on the diagonal: inside {}, inter applies", regions[i].name));
  }
}

/// Throws ConfigError unless the matrix is square and has a value everywhere except on the
/// diagonal.
void check_matrix(const Matrix& matrix, const std::vector<Region>& regions,
                  const std::string& pointer) {
  check_square(matrix, regions, pointer);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t j = 0; j < matrix.size(); ++j)
      if (i != j && matrix[i][j] == kAbsent)
        throw ConfigError(child(child(pointer, std::to_string(i)), std::to_string(j)),
                          fmt::format("expected a value: without it {} cannot be reached from {}",
                                      regions[j].name, regions[i].name));
}

void check_symmetric(const Matrix& delay, const std::string& pointer) {
  for (std::size_t i = 0; i < delay.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (delay[i][j] != delay[j][i])
        throw ConfigError(
            child(child(pointer, std::to_string(i)), std::to_string(j)),
            fmt::format("expected {}, as on the other side of the diagonal: a round trip is the "
                        "same from both ends",
                        format_quantity(delay[j][i], Dimension::duration)));
}

void check(const WanOptions& o, const AttachedNodes& attached, const std::string& pointer) {
  std::int64_t nodes = 0;
  for (const Region& region : o.regions) nodes += region.nodes;
  if (nodes != attached.count)
    throw ConfigError(
        child(pointer, "regions"),
        fmt::format("have {} nodes; expected the cluster's {}", nodes, attached.count));
  check_matrix(o.delay_s, o.regions, child(pointer, "delay"));
  check_matrix(o.bandwidth_Bps, o.regions, child(pointer, "bandwidth"));
  if (!o.egress_price_per_GB.empty())
    check_square(o.egress_price_per_GB, o.regions, child(pointer, "egress_price_per_GB"));
  if (o.delay_is == DelayIs::round_trip) check_symmetric(o.delay_s, child(pointer, "delay"));
}

class Wan final : public Topology {
 public:
  Wan(const WanOptions& o, const AttachedNodes&, Graph& graph)
      : regions_(o.regions),
        bandwidth_Bps_(o.bandwidth_Bps),
        first_(static_cast<VertexId>(graph.vertices.size())) {
    for (int i = 0; i < count(); ++i) {
      begins_.push_back(static_cast<int>(region_of_.size()));
      region_of_.resize(region_of_.size() + static_cast<std::size_t>(region(i).nodes), i);
      graph.add(switch_vertex("region", region(i).name));
    }
    begins_.push_back(static_cast<int>(region_of_.size()));
    std::vector<VertexId> gateways;  // the ends of the links between regions
    for (int i = 0; i < count(); ++i) gateways.push_back(add_gateway(i, graph));
    links_ = static_cast<LinkId>(graph.links.size());
    const double ways = o.delay_is == DelayIs::round_trip ? 2 : 1;
    for (int i = 0; i < count(); ++i)
      for (int j = 0; j < count(); ++j)
        if (i != j)
          graph.add(Link{gateways[index(i)], gateways[index(j)], between(i, j),
                         o.delay_s[index(i)][index(j)] / ways});
  }

  VertexId switch_of(int node) const override { return first_ + region_of_[index(node)]; }

  void route(int source, int destination, std::vector<LinkId>& links) const override {
    const int from = region_of_[index(source)], to = region_of_[index(destination)];
    if (from == to) return;
    if (region(from).has_access_link()) links.push_back(access_[index(from)]);
    links.push_back(links_ + from * (count() - 1) + (to < from ? to : to - 1));
    if (region(to).has_access_link()) links.push_back(access_[index(to)] + 1);
  }

  /// The minimum over all sets of regions. If there are too many, it is the minimum over prefixes
  /// of the list of regions, and of the sets of access links that can be cut, only two are
  /// considered: none, and those that are narrower than the links behind them.
  Bisection bisection(double node_Bps) const override {
    double least = std::numeric_limits<double>::infinity();
    std::vector<bool> inside(index(count()));
    if (count() <= kMostSets) {
      for (unsigned set = 0; set < 1U << count(); ++set) {
        for (int i = 0; i < count(); ++i) inside[index(i)] = (set >> i & 1U) != 0;
        least = std::min(least, cut(inside, node_Bps));
      }
    } else {
      for (int i = 0; i <= count(); ++i) {
        if (i > 0) inside[index(i - 1)] = true;
        least = std::min(least, cut(inside, node_Bps));
      }
    }
    return or_at_nics({least, "some regions against the others"}, begins_.back(), node_Bps);
  }

 private:
  static constexpr int kMostSets = 12;  // regions of which all sets are considered

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  int count() const { return static_cast<int>(regions_.size()); }
  const Region& region(int i) const { return regions_[index(i)]; }
  double between(int i, int j) const { return bandwidth_Bps_[index(i)][index(j)]; }

  /// Adds the access link of a region, up and then down, if it has one. Returns its far end.
  VertexId add_gateway(int i, Graph& graph) {
    access_.push_back(static_cast<LinkId>(graph.links.size()));
    if (!region(i).has_access_link()) return first_ + i;
    const VertexId gateway = graph.add(switch_vertex("gateway", region(i).name));
    graph.add(Link{first_ + i, gateway, region(i).up(), 0});
    graph.add(Link{gateway, first_ + i, region(i).down(), 0});
    return gateway;
  }

  /// Bandwidth from the regions `inside` to the other regions. If the regions do not have half of
  /// the nodes, the NICs of the missing or surplus nodes are added.
  double cut(const std::vector<bool>& inside, double node_Bps) const {
    int nodes = 0;
    std::vector<int> limited;  // regions inside with a limit of what leaves them
    for (int i = 0; i < count(); ++i) {
      if (!inside[index(i)]) continue;
      nodes += begins_[index(i) + 1] - begins_[index(i)];
      if (region(i).up_Bps > 0) limited.push_back(i);
    }
    double least = into_others(inside, inside);
    const auto cut_access = [&](const auto& is_cut) {
      std::vector<bool> open = inside;  // regions whose access links are not cut
      double Bps = 0;
      for (std::size_t k = 0; k < limited.size(); ++k) {
        if (!is_cut(k)) continue;
        open[index(limited[k])] = false;
        Bps += region(limited[k]).up();
      }
      least = std::min(least, Bps + into_others(inside, open));
    };
    if (count() <= kMostSets)
      for (unsigned set = 1; set < 1U << limited.size(); ++set)
        cut_access([&](std::size_t k) { return (set >> k & 1U) != 0; });
    else
      cut_access(
          [&](std::size_t k) { return region(limited[k]).up() < out_of(limited[k], inside); });
    const int all = begins_.back();
    const int off = std::min(std::abs(nodes - all / 2), std::abs(nodes - (all + 1) / 2));
    return least + off * node_Bps;
  }

  /// Bandwidth of the links from a region to those that are not `inside`.
  double out_of(int i, const std::vector<bool>& inside) const {
    double sum = 0;
    for (int j = 0; j < count(); ++j)
      if (!inside[index(j)]) sum += between(i, j);
    return sum;
  }

  /// Bandwidth from the regions `open` to those that are not `inside`.
  double into_others(const std::vector<bool>& inside, const std::vector<bool>& open) const {
    double sum = 0;
    for (int j = 0; j < count(); ++j) {
      if (inside[index(j)]) continue;
      double Bps = 0;
      for (int i = 0; i < count(); ++i)
        if (open[index(i)]) Bps += between(i, j);
      sum += std::min(Bps, region(j).down());
    }
    return sum;
  }

  std::vector<Region> regions_;
  Matrix bandwidth_Bps_;
  VertexId first_;
  std::vector<int> region_of_;  // by node
  std::vector<int> begins_;     // by region: its first node; then the number of all nodes
  std::vector<LinkId> access_;  // by region: its link up, which the link down follows
  LinkId links_ = 0;            // the first link between regions
};

}  // namespace

TopologyEntry wan_entry() {
  return topology_entry<Wan>("wan", "regions with a delay and a bandwidth between any two",
                             fields(), check);
}

}  // namespace trigram
