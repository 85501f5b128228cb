#include "experiments/config/sweep.h"

#include <fmt/format.h>

#include "experiments/config/config_file.h"
#include "experiments/config/settings.h"

namespace trigram {
namespace {

/// Settings that are made together, and where errors of each are reported.
struct Row {
  Json values = Json::object();  // pointer -> value
  std::string reported_under;
};
using Axis = std::vector<Row>;

const Json& checked_list(const Json& list, const std::string& pointer) {
  if (!list.is_array() || list.empty()) wrong_type(pointer, "a list of values, not empty", list);
  return list;
}

Json take_object(Json& config, const std::string& key) {
  if (!config.contains(key)) return Json::object();
  Json object = std::move(config[key]);
  config.erase(key);
  if (!object.is_object()) wrong_type(child("", key), "an object of pointers to lists", object);
  return object;
}

std::vector<Axis> product_axes(const Json& sweep) {
  std::vector<Axis> axes;
  for (const auto& [pointer, list] : sweep.items()) {
    Axis axis;
    for (const Json& value : checked_list(list, child("/sweep", pointer)))
      axis.push_back({Json{{pointer, value}}, "/sweep"});
    axes.push_back(std::move(axis));
  }
  return axes;
}

Axis zip_axis(const Json& zip) {
  Axis axis;
  for (const auto& [pointer, list] : zip.items()) {
    checked_list(list, child("/zip", pointer));
    if (axis.empty()) axis.resize(list.size(), Row{Json::object(), "/zip"});
    if (list.size() != axis.size())
      throw ConfigError(child("/zip", pointer),
                        fmt::format("expected {} values, as many as the other lists, not {}",
                                    axis.size(), list.size()));
    for (std::size_t i = 0; i < list.size(); ++i) axis[i].values[pointer] = list[i];
  }
  return axis;
}

void extend(std::vector<SweepPoint>& points, const Axis& axis, const std::filesystem::path& base) {
  std::vector<SweepPoint> extended;
  for (const SweepPoint& point : points)
    for (const Row& row : axis) {
      SweepPoint next = point;
      for (const auto& [pointer, value] : row.values.items()) {
        set_at(next.config, pointer, value, child(row.reported_under, pointer));
        inline_cluster(next.config, base);
        next.coordinates[pointer] = value;
      }
      extended.push_back(std::move(next));
    }
  points = std::move(extended);
}

}  // namespace

std::vector<SweepPoint> expand_sweep(Json config, const std::filesystem::path& base) {
  if (!config.is_object()) wrong_type("", "an object", config);
  Json sweep = take_object(config, "sweep");
  const Json zip = take_object(config, "zip");
  if (config.contains("seed") && config["seed"].is_array() && !sweep.contains("/seed")) {
    if (config["seed"].empty()) wrong_type("/seed", "a seed or a list of seeds", config["seed"]);
    sweep["/seed"] = config["seed"];
    config.erase("seed");
  }
  for (const auto& [pointer, list] : zip.items())
    if (sweep.contains(pointer))
      throw ConfigError(child("/zip", pointer), "is swept twice; expected it under one of the two");
  std::vector<SweepPoint> points{{std::move(config)}};
  for (const Axis& axis : product_axes(sweep)) extend(points, axis, base);
  if (!zip.empty()) extend(points, zip_axis(zip), base);
  return points;
}

Json sweep_schema() {
  return {{"type", "object"},
          {"propertyNames", {{"pattern", "^/"}}},
          {"additionalProperties", {{"type", "array"}, {"minItems", 1}}}};
}

}  // namespace trigram
