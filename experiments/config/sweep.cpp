#include "experiments/config/sweep.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "experiments/config/config_file.h"
#include "experiments/config/settings.h"

namespace trigram {
namespace {

/// Values that are set together. Errors in the value of a pointer are reported at that pointer
/// below `reported_under`.
struct Row {
  Json values = Json::object();  // pointers and their values
  std::string reported_under;
};
using Axis = std::vector<Row>;

const Json& checked_list(const Json& list, const std::string& pointer) {
  if (!list.is_array() || list.empty()) wrong_type(pointer, "a list of values, not empty", list);
  return list;
}

Json take(Json& config, const std::string& key) {
  if (!config.contains(key)) return Json::object();
  Json value = std::move(config[key]);
  config.erase(key);
  return value;
}

void check_object(const Json& j, const std::string& pointer, const std::string& expected) {
  if (!j.is_object()) wrong_type(pointer, expected, j);
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

/// Reads "zip" as columns: {pointer: [values], ...}.
Axis axis_of_columns(const Json& zip) {
  check_object(zip, "/zip", "an object of pointers to lists, or a list of rows");
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

/// Reads "zip" as rows: [{pointer: value, ...}, ...].
Axis axis_of_rows(const Json& zip) {
  Axis axis;
  for (const Json& row : checked_list(zip, "/zip")) {
    const std::string pointer = child("/zip", std::to_string(axis.size()));
    check_object(row, pointer, "an object of pointers to values");
    axis.push_back({row, pointer});
  }
  return axis;
}

void check_not_swept_twice(const Json& sweep, const Axis& zip) {
  for (const Row& row : zip)
    for (const auto& [pointer, value] : row.values.items())
      if (sweep.contains(pointer))
        throw ConfigError(child(row.reported_under, pointer),
                          "is swept twice; expected it under one of the two");
}

/// A larger plan is probably a mistake, and would not fit into memory.
void check_size(const std::vector<Axis>& axes) {
  constexpr double kMost = 100'000;
  double points = 1;
  for (const Axis& axis : axes) points *= static_cast<double>(axis.size());
  if (points > kMost)
    throw ConfigError("/sweep", fmt::format("expected at most {} runs, not {}", kMost, points));
}

/// The value to which a pointer is set.
struct Assignment {
  const Json* value;                  // as written in the sweep
  const Json* content;                // the same value, or the content of the file that it names
  const std::string* reported_under;  // see Row
};
/// A point of the sweep. Pointers are in alphabetical order, so that parents come before their
/// children.
using Choice = std::map<std::string, Assignment>;

/// Turns the rows of an axis into choices. Reads each file that a row names only once.
std::vector<Choice> choices_of(const Axis& axis, const std::filesystem::path& base,
                               std::vector<std::unique_ptr<const Json>>& contents) {
  std::vector<Choice> choices;
  for (const Row& row : axis) {
    Choice& choice = choices.emplace_back();
    for (const auto& [pointer, value] : row.values.items()) {
      choice[pointer] = {&value, &value, &row.reported_under};
      if (pointer != "/cluster" && pointer != "/algorithm") continue;
      Json config = {{pointer.substr(1), value}};
      inline_files(config, base);
      contents.push_back(std::make_unique<const Json>(std::move(config.front())));
      choice[pointer].content = contents.back().get();
    }
  }
  return choices;
}

SweepPoint point_of(Json config, const Choice& choice) {
  SweepPoint point{std::move(config), Json::object()};
  for (const auto& [pointer, assignment] : choice) {
    set_at(point.config, pointer, *assignment.content, child(*assignment.reported_under, pointer));
    point.coordinates[pointer] = *assignment.value;
  }
  return point;
}

}  // namespace

std::vector<SweepPoint> expand_sweep(Json config, const std::filesystem::path& base) {
  if (!config.is_object()) wrong_type("", "an object", config);
  Json sweep = take(config, "sweep");
  check_object(sweep, "/sweep", "an object of pointers to lists");
  const Json zip = take(config, "zip");
  if (config.contains("seed") && config["seed"].is_array() && !sweep.contains("/seed")) {
    if (config["seed"].empty()) wrong_type("/seed", "a seed or a list of seeds", config["seed"]);
    sweep["/seed"] = config["seed"];
    config.erase("seed");
  }
  const Axis zipped = zip.is_array() ? axis_of_rows(zip) : axis_of_columns(zip);
  check_not_swept_twice(sweep, zipped);
  std::vector<Axis> axes = product_axes(sweep);
  if (!zipped.empty()) axes.push_back(zipped);
  check_size(axes);
  std::vector<std::unique_ptr<const Json>> contents;
  std::vector<Choice> choices(1);
  for (const Axis& axis : axes) {
    const std::vector<Choice> rows = choices_of(axis, base, contents);
    std::vector<Choice> extended;
    for (const Choice& choice : choices)
      for (const Choice& row : rows) {
        extended.push_back(choice);
        extended.back().insert(row.begin(), row.end());
      }
    choices = std::move(extended);
  }
  std::vector<SweepPoint> points;
  for (const Choice& choice : choices) points.push_back(point_of(config, choice));
  return points;
}

Json sweep_schema() {
  return {{"type", "object"},
          {"propertyNames", {{"pattern", "^/"}}},
          {"additionalProperties", {{"type", "array"}, {"minItems", 1}}}};
}

Json zip_schema() {
  const Json row = {{"type", "object"}, {"propertyNames", {{"pattern", "^/"}}}};
  return {{"anyOf", {sweep_schema(), {{"type", "array"}, {"minItems", 1}, {"items", row}}}}};
}

}  // namespace trigram
