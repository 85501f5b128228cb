#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "netmodels/network/network.h"
#include "netmodels/topologies/topology_spec.h"

namespace trigram {

/// The connection of nodes beyond their NICs: switches, links between them, and routes.
class Topology {
 public:
  virtual ~Topology() = default;
  /// The switch to which the NICs of a node connect.
  virtual VertexId switch_of(int node) const = 0;
  /// Appends the links from the switch of one node to the switch of another.
  virtual void route(int source, int destination, std::vector<LinkId>& links) const = 0;
  /// The least bandwidth between two halves of the nodes, if the NICs of each node have `node_Bps`
  /// in total. It is computed in closed form from the cut that the result names. No cut is narrower
  /// if the topology is regular (docs/topologies.md).
  virtual Bisection bisection(double node_Bps) const = 0;
};

/// A kind of topology that configurations select by name.
struct TopologyEntry {
  std::string kind;
  std::string doc;
  Schema schema;  // of the options, without "kind"
  /// Checks the options strictly and fills in defaults.
  std::function<Json(const Json& options, const std::string& pointer)> resolve;
  /// Throws ConfigError if the resolved options do not fit the nodes.
  std::function<void(const Json& resolved, const AttachedNodes&, const std::string& pointer)> check;
  /// Creates the topology and adds its switches and links to `graph`.
  std::function<std::unique_ptr<Topology>(const Json& resolved, const AttachedNodes&, Graph&)> make;
};

/// The entry of a kind whose options are a struct S. `table` has the fields of S. The topology is
/// constructed by T(options, attached, graph).
template <class T, class S, class Check>
TopologyEntry topology_entry(std::string kind, std::string doc, FieldTable<S> table, Check check) {
  return {std::move(kind),
          std::move(doc),
          [table] { return table.schema(); },
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

/// A link between switches, as given in a topology's options.
struct SwitchLink {
  double bandwidth_Bps = 0;  // 0: same as a NIC
  double latency_s = 0;      // added to the end-to-end latency of `inter`
  double bandwidth(const AttachedNodes& attached) const {
    return bandwidth_Bps > 0 ? bandwidth_Bps : attached.nic_Bps;
  }
};

/// The options "bandwidth" and "latency", with names that begin with a prefix, as in
/// "global_bandwidth". `which` describes the links to the user.
FieldTable<SwitchLink> switch_link_fields(const std::string& prefix, const std::string& which);

/// The least bandwidth between two halves of `nodes` nodes on `switches` equal switches with
/// `per_switch` nodes each. For every r it considers the cut that separates r switches from the
/// others. The links across this cut carry cut_Bps(r) bytes per second; if r switches do not have
/// half of the nodes, the missing or surplus nodes are cut off at their NICs. The result is named
/// `name`, unless a cut of the NICs of half of the nodes is no wider.
Bisection least_cut(int nodes, int switches, int per_switch, double node_Bps,
                    const std::function<double(int)>& cut_Bps, const std::string& name);

/// Returns `cut`, or the cut at the NICs of half of the nodes if that is no wider.
Bisection or_at_nics(const Bisection& cut, int nodes, double node_Bps);

Vertex switch_vertex(std::string tier, std::string name);

// Each file of this folder defines one of these functions.
TopologyEntry flat_entry();
TopologyEntry fat_tree_entry();
TopologyEntry dragonfly_entry();
TopologyEntry torus_entry();
TopologyEntry hammingmesh_entry();
TopologyEntry wan_entry();

/// All kinds of topologies.
const std::vector<TopologyEntry>& topologies();
const TopologyEntry& topology_of(const TopologySpec& spec);

/// A topology in a configuration: {"kind": ..., options}, resolved strictly. A kind without options
/// may be given by its name alone.
OptionType<TopologySpec> topology_kind();

}  // namespace trigram
