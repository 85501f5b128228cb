#include "experiments/config/world_override.h"

#include <algorithm>
#include <set>

#include "experiments/worlds.h"

namespace trigram {
namespace {

constexpr const char* kRuntime = "/runtime";
constexpr const char* kOptions = "/runtime/";

/// The name of a world's option from its pointer: "fidelity" for "/runtime/fidelity".
std::string option_of(const std::string& pointer) {
  const std::string below = pointer.substr(std::string(kOptions).size());
  return below.substr(0, below.find('/'));
}

std::vector<std::string> options_of(const World& world) {
  std::vector<std::string> names;
  const Json options = world.schema();
  if (options.contains("properties"))
    for (const auto& [name, schema] : options["properties"].items()) names.push_back(name);
  return names;
}

/// Throws ConfigError for an option that no world has.
void check_known(const std::string& pointer) {
  std::vector<std::string> known;
  for (const World& world : worlds())
    for (const std::string& name : options_of(world)) known.push_back(name);
  const std::string option = option_of(pointer);
  if (std::ranges::find(known, option) == known.end())
    unknown_name(pointer, "option of a world", option, known);
}

Json without_runtime(Json config) {
  config.erase("runtime");
  return config;
}

}  // namespace

bool has_option(const std::string& world, const std::string& pointer) {
  const auto names = options_of(find_component(worlds(), "world", Json(world), kRuntime));
  return std::ranges::find(names, option_of(pointer)) != names.end();
}

WorldOverride::WorldOverride(const Json& world, const std::string& reported_at)
    : world_{{"name", component_name(world, reported_at)}} {
  resolve_component(worlds(), "world", world, reported_at);
  world_.update(component_options(world));
}

bool WorldOverride::is_target(const Json& runtime) const {
  return component_name(runtime, kRuntime) == world_.at("name").get<std::string>();
}

void WorldOverride::retarget_file(Json& config) {
  const Json runtime = config.value("runtime", Json("sim"));
  if (is_target(runtime)) return;
  resolve_component(worlds(), "world", runtime, kRuntime);
  config["runtime"] = world_;
  foreign_ = true;
}

/// Removes options of other worlds that the sweep sets. Returns true if there were any.
bool WorldOverride::leave_out_options(SweepPoint& point) const {
  if (!foreign_) return false;
  const Json swept = point.coordinates;
  for (const auto& [pointer, value] : swept.items()) {
    if (!pointer.starts_with(kOptions) || has_option(world_["name"], pointer)) continue;
    check_known(pointer);
    point.config["runtime"].erase(option_of(pointer));
    point.coordinates.erase(pointer);
  }
  return point.coordinates != swept;
}

/// Retargets a point. Returns true if a part of the point was for another world.
bool WorldOverride::retarget(SweepPoint& point) const {
  Json& runtime = point.config["runtime"];
  if (!is_target(runtime)) {
    // Throws if the point's own world has a mistake.
    resolve_component(worlds(), "world", runtime, kRuntime);
    runtime = world_;
    const Json swept = point.coordinates;
    for (const auto& [pointer, value] : swept.items())
      if (pointer == kRuntime || pointer.starts_with(kOptions)) point.coordinates.erase(pointer);
    return true;
  }
  const bool left_out = leave_out_options(point);
  Json filled = world_;
  filled.update(component_options(runtime));
  runtime = std::move(filled);
  return left_out;
}

void WorldOverride::retarget_points(std::vector<SweepPoint>& points) const {
  std::set<Json> unchanged, seen;
  std::vector<bool> changed;
  for (SweepPoint& point : points) {
    changed.push_back(retarget(point));
    if (!changed.back()) unchanged.insert(without_runtime(point.config));
  }
  std::vector<SweepPoint> kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (changed[i] && (unchanged.contains(without_runtime(points[i].config)) ||
                       !seen.insert(points[i].config).second))
      continue;
    kept.push_back(std::move(points[i]));
  }
  points = std::move(kept);
}

}  // namespace trigram
