#include "experiments/config/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "core/config/json_text.h"
#include "experiments/config/config_file.h"
#include "experiments/config/experiment.h"

namespace trigram {
namespace {

using Pointer = Json::json_pointer;

Pointer parse_pointer(const std::string& text, const std::string& reported_at) {
  try {
    if (text.empty() || text == "/")
      throw ConfigError(reported_at, "the JSON pointer does not lead to a setting");
    return Pointer(text);
  } catch (const nlohmann::json::exception&) {
    throw ConfigError(reported_at, fmt::format("expected a JSON pointer, as in \"/cluster/nodes\", "
                                               "not \"{}\"",
                                               text));
  }
}

/// Returns the element at `pointer`. Creates it if it is missing.
Json& descend(Json& config, const Pointer& pointer, const std::string& reported_at) {
  if (pointer.empty()) return config;
  Json& parent = descend(config, pointer.parent_pointer(), reported_at);
  if (!parent.is_array()) return parent[pointer.back()];
  const std::string& index = pointer.back();
  const bool digits = !index.empty() && index.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || index.size() > 9 || std::stoul(index) >= parent.size())
    throw ConfigError(reported_at, fmt::format("\"{}\": expected an index below {}",
                                               pointer.to_string(), parent.size()));
  return parent[std::stoul(index)];
}

void make_object(Json& node, const Pointer& pointer, const std::string& reported_at) {
  if (node.is_null()) node = Json::object();
  if (node.is_string()) node = Json{{"name", node}};
  if (!node.is_structured())
    throw ConfigError(reported_at, fmt::format("\"{}\" has no fields to set", pointer.to_string()));
}

/// The objects in "sweep" and "zip" whose keys are swept pointers, each with its own pointer.
std::vector<std::pair<std::string, Json*>> swept_objects(Json& config) {
  std::vector<std::pair<std::string, Json*>> found;
  for (const char* kind : {"sweep", "zip"}) {
    if (!config.contains(kind)) continue;
    const std::string pointer = child("", kind);
    Json& swept = config[kind];
    if (swept.is_object()) found.emplace_back(pointer, &swept);
    if (!swept.is_array()) continue;
    for (std::size_t i = 0; i < swept.size(); ++i)  // rows
      if (swept[i].is_object()) found.emplace_back(child(pointer, std::to_string(i)), &swept[i]);
  }
  return found;
}

/// Throws ConfigError for a setting below a swept pointer, because every value of the sweep would
/// overwrite the setting.
void check_not_overwritten(Json& config, const Setting& setting) {
  for (const auto& [pointer, object] : swept_objects(config))
    for (const auto& [swept, values] : object->items())
      if (setting.pointer.starts_with(swept + "/"))
        throw ConfigError("--set " + setting.pointer,
                          fmt::format("{0} is swept, so this would have no effect; set {0} itself, "
                                      "or {1}",
                                      swept, child(pointer, swept)));
}

/// Parses settings, and keeps their order with one exception: a setting of a parent moves before
/// the settings of fields below it, which it would otherwise undo.
std::vector<Setting> parents_first(const std::vector<std::string>& settings) {
  std::vector<Setting> ordered;
  for (const std::string& text : settings) {
    Setting setting = parse_setting(text);
    const auto below = std::ranges::find_if(ordered, [&](const Setting& other) {
      return other.pointer.starts_with(setting.pointer + "/");
    });
    ordered.insert(below, std::move(setting));
  }
  return ordered;
}

}  // namespace

void set_at(Json& config, const std::string& target, const Json& value,
            const std::string& reported_at) {
  const Pointer pointer = parse_pointer(target, reported_at);
  std::vector<Pointer> ancestors;
  for (Pointer p = pointer.parent_pointer(); !p.empty(); p = p.parent_pointer())
    ancestors.push_back(p);
  for (auto p = ancestors.rbegin(); p != ancestors.rend(); ++p)
    make_object(descend(config, *p, reported_at), *p, reported_at);
  descend(config, pointer, reported_at) = value;
}

Json parse_value(const std::string& text) { return try_parse_json(text).value_or(Json(text)); }

namespace {

/// The "=value" of a setting, or "=..." if the setting has no value.
std::string rest_of(const std::string& text, std::size_t equals) {
  return equals == std::string::npos ? "=..." : text.substr(equals);
}

/// Adds to `found` the pointers of all options in a schema, which is at `pointer`.
void collect_pointers(const Json& schema, const std::string& pointer,
                      std::set<std::string>& found) {
  if (schema.contains("properties"))
    for (const auto& [key, property] : schema["properties"].items()) {
      found.insert(child(pointer, key));
      collect_pointers(property, child(pointer, key), found);
    }
  for (const char* forms : {"anyOf", "oneOf"})
    if (schema.contains(forms))
      for (const Json& form : schema[forms]) collect_pointers(form, pointer, found);
}

/// Guesses the JSON pointer of the option that a name refers to: "/steps" for "steps" or
/// "train.steps", "/optimizer/lr" for "lr". Empty if no pointer ends in the name.
std::string known_pointer(const std::string& name) {
  std::set<std::string> known;
  collect_pointers(config_schema(), "", known);
  std::string end = name;
  std::ranges::replace(end, '.', '/');
  if (!end.starts_with("/")) end = "/" + end;
  // Tries the whole name first, then drops its leading levels one by one.
  for (; end.size() > 1; end.erase(0, std::min(end.find('/', 1), end.size()))) {
    std::vector<std::string> fitting;
    std::ranges::copy_if(known, std::back_inserter(fitting),
                         [&end](const std::string& pointer) { return pointer.ends_with(end); });
    if (!fitting.empty()) return *std::ranges::min_element(fitting, {}, &std::string::size);
  }
  return "";
}

/// Throws ConfigError for a setting outside the experiment's fields, and suggests the option that
/// the user probably means.
void check_is_known(const Setting& setting) {
  const std::string first = setting.pointer.substr(1, setting.pointer.find('/', 1) - 1);
  static const Json known = config_schema()["properties"];  // costly to build
  if (known.contains(first)) return;
  std::vector<std::string> names;
  for (const auto& [name, schema] : known.items()) names.push_back(name);
  if (!did_you_mean(first, names).empty()) return;  // the table of fields reports this error
  if (const std::string pointer = known_pointer(setting.pointer); !pointer.empty())
    throw ConfigError("--set " + setting.pointer,
                      fmt::format("unknown key \"{}\"{}", first, did_you_mean(pointer)));
}

}  // namespace

Setting parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.empty() || text[0] != '/') {
    const std::string known = known_pointer(text.substr(0, equals));
    throw ConfigError(
        "--set", fmt::format("expected /json/pointer=value, as in /steps=100, not \"{}\"{}", text,
                             known.empty() ? "" : did_you_mean(known + rest_of(text, equals))));
  }
  return {text.substr(0, equals), parse_value(text.substr(equals + 1))};
}

void apply_settings(Json& config, const std::vector<std::string>& settings,
                    const std::filesystem::path& base) {
  for (const Setting& setting : parents_first(settings)) {
    check_is_known(setting);
    check_not_overwritten(config, setting);
    set_at(config, setting.pointer, setting.value, "--set " + setting.pointer);
    inline_files(config, base);
    for (const auto& [pointer, object] : swept_objects(config)) object->erase(setting.pointer);
  }
}

}  // namespace trigram
