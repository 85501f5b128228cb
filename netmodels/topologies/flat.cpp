// One switch that is never narrow: messages meet in NICs alone.
#include <algorithm>
#include <cmath>

#include "netmodels/topologies/registry.h"

namespace trigram {
namespace {

struct FlatOptions {};

class Flat final : public Topology {
 public:
  Flat(const FlatOptions&, const AttachedNodes& attached, Graph& graph)
      : nodes_(static_cast<int>(attached.count)),
        columns_(std::max((nodes_ + 1) / 2, 1)),
        switch_(graph.add(switch_vertex("switch", "0", {(columns_ - 1) / 2.0, 1.5}))) {}

  VertexId attach(int) const override { return switch_; }
  void route(int, int, std::vector<LinkId>&) const override {}
  Bisection bisection(double node_Bps) const override {
    return {std::floor(nodes_ / 2.0) * node_Bps, "NICs of half of the nodes"};
  }
  /// One row above the switch, one below it.
  Point place(int node) const override {
    return {static_cast<double>(node % columns_), node < columns_ ? 0.0 : 3.0};
  }

 private:
  int nodes_, columns_;
  VertexId switch_;
};

}  // namespace

TopologyEntry flat_entry() {
  return topology_entry<Flat>("flat", "one switch that is never narrow", FieldTable<FlatOptions>{},
                              [](const FlatOptions&, const AttachedNodes&, const std::string&) {});
}

}  // namespace trigram
