#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "netmodels/network/network.h"
#include "netmodels/topologies/topology_spec.h"

namespace trigram {

/// How nodes are joined beyond their NICs: switches, the links between them, and routes.
class Topology {
 public:
  virtual ~Topology() = default;
  /// The switch that the NICs of a node lead to.
  virtual VertexId attach(int node) const = 0;
  /// Appends the links from the switch of one node to that of another.
  virtual void route(int source, int destination, std::vector<LinkId>& links) const = 0;
  /// The least bandwidth between two halves of the nodes, each of which has NICs of `node_Bps` in
  /// all. A closed form: of the cut that it names, which is the least one where the topology is
  /// regular (docs/networks.md).
  virtual Bisection bisection(double node_Bps) const = 0;
};

/// A kind of topology, as configurations name it.
struct TopologyEntry {
  std::string kind;
  std::string doc;
  Json schema;  // of the options, without "kind"
  /// Checks options strictly and fills in the defaults.
  std::function<Json(const Json& options, const std::string& pointer)> resolve;
  /// Throws ConfigError when resolved options do not fit the nodes.
  std::function<void(const Json& resolved, const AttachedNodes&, const std::string& pointer)> check;
  /// Makes it, adding its switches and links to `graph`.
  std::function<std::unique_ptr<Topology>(const Json& resolved, const AttachedNodes&, Graph&)> make;
};

/// A kind whose options are the struct S with this field table; T{options, attached, graph} is the
/// topology.
template <class T, class S, class Check>
TopologyEntry topology_entry(std::string kind, std::string doc, FieldTable<S> table, Check check) {
  return {std::move(kind),
          std::move(doc),
          table.schema(),
          [table](const Json& j, const std::string& pointer) {
            return table.dump(table.parse(j, pointer));
          },
          [table, check](const Json& resolved, const AttachedNodes& attached,
                         const std::string& pointer) {
            check(table.parse(resolved, pointer), attached, pointer);
          },
          [table](const Json& resolved, const AttachedNodes& attached, Graph& graph) {
            return std::make_unique<T>(table.parse(resolved, ""), attached, graph);
          }};
}

/// A link between switches, as options of a topology say it.
struct SwitchLink {
  double bandwidth_Bps = 0;  // 0: that of a NIC
  double latency_s = 0;      // beside the latency of `inter`, which is end to end
  double bandwidth(const AttachedNodes& attached) const {
    return bandwidth_Bps > 0 ? bandwidth_Bps : attached.nic_Bps;
  }
};

/// "bandwidth" and "latency" of such links, with a prefix: "global_bandwidth".
FieldTable<SwitchLink> switch_link_fields(const std::string& prefix, const std::string& which);

/// The least bandwidth between halves of `nodes`, when r of `switches` alike, of `per_switch` nodes
/// each, stand on one side of cut(r) bytes per second; nodes that this leaves on the wrong side are
/// cut at their NICs. Over all r. `name` is that of the cut, if it is not the NICs of half of the
/// nodes.
Bisection least_cut(int nodes, int switches, int per_switch, double node_Bps,
                    const std::function<double(int)>& cut, const std::string& name);

/// `cut`, or that at the NICs of half of the nodes if it is no wider.
Bisection or_at_nics(const Bisection& cut, int nodes, double node_Bps);

/// A switch of a topology.
Vertex switch_vertex(std::string tier, std::string name);

}  // namespace trigram
