#include "experiments/advise/one_node.h"

#include <algorithm>

#include "algorithms/registry.h"

namespace trigram {
namespace {

bool is_hierarchical_by_default(const std::string& name) {
  const auto entry = std::ranges::find(algorithms(), name, &AlgorithmEntry::name);
  return entry != algorithms().end() &&
         entry->schema().value("/properties/hierarchical/default"_json_pointer, Json()) == true;
}

}  // namespace

bool is_single_node(const SweepPoint& point) {
  const Json cluster = point.config.value("cluster", Json());
  return cluster.is_object() && cluster.value("nodes", Json(1)) == 1;
}

bool remove_hierarchy(SweepPoint& point) {
  Json& algorithm = point.config["algorithm"];
  // The check of the experiment's fields reports this mistake.
  if (!algorithm.is_object() && !algorithm.is_string()) return false;
  const std::string name = algorithm.is_string() ? algorithm.get<std::string>()
                                                 : component_name(algorithm, "/algorithm");
  const bool by_default = is_hierarchical_by_default(name);
  bool was_hierarchical = false;
  const auto strip = [&](Json& description) {
    if (description.is_string() && by_default) description = {{"name", name}};
    if (!description.is_object()) return;
    was_hierarchical |= description.value("hierarchical", Json(by_default)) == true;
    for (const char* option : kMultiNodeOptions) description.erase(option);
    if (by_default) description["hierarchical"] = false;
  };
  strip(algorithm);
  if (point.coordinates.contains("/algorithm")) strip(point.coordinates["/algorithm"]);
  for (const char* option : kMultiNodeOptions) point.coordinates.erase(child("/algorithm", option));
  return was_hierarchical;
}

}  // namespace trigram
