// One switch that is never the bottleneck: messages share nothing but NICs.
#include <cmath>

#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

struct FlatOptions {};

class Flat final : public Topology {
 public:
  Flat(const FlatOptions&, const AttachedNodes& attached, Graph& graph)
      : nodes_(static_cast<int>(attached.count)),
        switch_(graph.add(switch_vertex("switch", "0"))) {}

  VertexId switch_of(int) const override { return switch_; }
  void route(int, int, std::vector<LinkId>&) const override {}
  Bisection bisection(double node_Bps) const override {
    return {std::floor(nodes_ / 2.0) * node_Bps, "NICs of half of the nodes"};
  }

 private:
  int nodes_;
  VertexId switch_;
};

}  // namespace

TopologyEntry flat_entry() {
  return topology_entry<Flat>("flat", "one switch that is never a bottleneck",
                              FieldTable<FlatOptions>{},
                              [](const FlatOptions&, const AttachedNodes&, const std::string&) {});
}

}  // namespace trigram
