#include "experiments/advise/one_node.h"

#include <algorithm>

#include "algorithms/registry.h"

namespace trigram {
namespace {

bool is_hierarchical_by_default(const std::string& name) {
  const auto entry = std::ranges::find(algorithms(), name, &AlgorithmEntry::name);
  return entry != algorithms().end() &&
         entry->schema.value("/properties/hierarchical/default"_json_pointer, Json()) == true;
}

}  // namespace

bool is_for_one_node(const SweepPoint& point) {
  const Json cluster = point.config.value("cluster", Json());
  return cluster.is_object() && cluster.value("nodes", Json(1)) == 1;
}

bool remove_hierarchy(SweepPoint& point) {
  Json& algorithm = point.config["algorithm"];
  // Another check reports this mistake.
  if (!algorithm.is_object() && !algorithm.is_string()) return false;
  const std::string name = algorithm.is_string() ? algorithm.get<std::string>()
                                                 : component_name(algorithm, "/algorithm");
  const bool otherwise = is_hierarchical_by_default(name);
  bool was_hierarchical = false;
  const auto strip = [&](Json& of) {
    if (of.is_string() && otherwise) of = {{"name", name}};
    if (!of.is_object()) return;
    was_hierarchical |= of.value("hierarchical", Json(otherwise)) == true;
    for (const char* of_nodes : kOfNodes) of.erase(of_nodes);
    if (otherwise) of["hierarchical"] = false;
  };
  strip(algorithm);
  if (point.coordinates.contains("/algorithm")) strip(point.coordinates["/algorithm"]);
  for (const char* of_nodes : kOfNodes) point.coordinates.erase(child("/algorithm", of_nodes));
  return was_hierarchical;
}

}  // namespace trigram
