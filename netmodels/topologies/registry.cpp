#include "netmodels/topologies/registry.h"

#include <algorithm>

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

const std::vector<TopologyEntry>& topologies() {
  static const std::vector<TopologyEntry> all = {
      flat_entry(),  fat_tree_entry(),    dragonfly_entry(),
      torus_entry(), hammingmesh_entry(), wan_entry(),
  };
  return all;
}

const TopologyEntry& topology_of(const TopologySpec& spec) {
  const auto& all = topologies();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.kind == spec.kind; });
  TRIGRAM_CHECK(found != all.end(), "no topology is named {}", spec.kind);
  return *found;
}

OptionType<TopologySpec> topology_kind() {
  return {parse, dump, schema_of_choices(topologies(), "kind", &TopologyEntry::kind)};
}

}  // namespace trigram
