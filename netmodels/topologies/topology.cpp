#include "netmodels/topologies/topology.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/config/component.h"

namespace trigram {
namespace {

std::string kind_of(const Json& j, const std::string& pointer) {
  if (j.is_string()) return j.get<std::string>();
  if (!j.is_object()) wrong_type(pointer, "a kind, or an object with \"kind\" and options", j);
  const std::string at = child(pointer, "kind");
  if (!j.contains("kind")) throw ConfigError(at, "missing; expected the kind of the topology");
  if (!j.at("kind").is_string()) wrong_type(at, "a kind", j.at("kind"));
  return j.at("kind").get<std::string>();
}

TopologySpec parse(const Json& j, const std::string& pointer) {
  const std::string kind = kind_of(j, pointer);
  Json options = j.is_object() ? j : Json::object();
  options.erase("kind");
  std::vector<std::string> kinds;
  for (const TopologyEntry& entry : topologies()) {
    if (entry.kind == kind) return {kind, entry.resolve(options, pointer)};
    kinds.push_back(entry.kind);
  }
  unknown_name(j.is_string() ? pointer : child(pointer, "kind"), "topology", kind, kinds);
}

Json dump(const TopologySpec& spec) {
  Json j = spec.options;
  j["kind"] = spec.kind;
  return j;
}

}  // namespace

FieldTable<SwitchLink> switch_link_fields(const std::string& prefix, const std::string& which) {
  return FieldTable<SwitchLink>{}
      .field(prefix + "bandwidth", &SwitchLink::bandwidth_Bps,
             dumped_if(quantity(Dimension::bandwidth, true), [](double Bps) { return Bps > 0; }),
             "bandwidth of each direction of " + which + "; defaults to the bandwidth of a NIC")
      .field(prefix + "latency", &SwitchLink::latency_s, quantity(Dimension::duration),
             "latency of " + which + ", added to the end-to-end latency of `inter`");
}

Bisection least_cut(int nodes, int switches, int per_switch, double node_Bps,
                    const std::function<double(int)>& cut_Bps, const std::string& name) {
  const double half = std::floor(nodes / 2.0);
  double least = std::numeric_limits<double>::infinity();
  for (int r = 0; r <= switches; ++r)
    least = std::min(least,
                     cut_Bps(r) + std::abs(static_cast<double>(r) * per_switch - half) * node_Bps);
  return or_at_nics({least, name}, nodes, node_Bps);
}

Bisection or_at_nics(const Bisection& cut, int nodes, double node_Bps) {
  const double at_nics = std::floor(nodes / 2.0) * node_Bps;
  return at_nics <= cut.bandwidth_Bps ? Bisection{at_nics, "NICs of half of the nodes"} : cut;
}

Vertex switch_vertex(std::string tier, std::string name) {
  return {Vertex::Kind::network_switch, std::move(tier), std::move(name), -1};
}

const std::vector<TopologyEntry>& topologies() {
  static const std::vector<TopologyEntry> all = {
      flat_entry(),  fat_tree_entry(),    dragonfly_entry(),
      torus_entry(), hammingmesh_entry(), wan_entry(),
  };
  return all;
}

const TopologyEntry& topology_of(const TopologySpec& spec) {
  const auto& all = topologies();
  const auto found = std::ranges::find(all, spec.kind, &TopologyEntry::kind);
  TRIGRAM_CHECK(found != all.end(), "no topology is named {}", spec.kind);
  return *found;
}

OptionType<TopologySpec> topology_kind() {
  return {parse, dump,
          [] { return schema_of_choices(topologies(), "kind", &TopologyEntry::kind); }};
}

}  // namespace trigram
