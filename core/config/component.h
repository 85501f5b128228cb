#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/fields.h"

namespace trigram {

/// The name in a component reference, which is "name" or {"name": ..., options}. Throws ConfigError
/// if the reference has neither form.
inline std::string component_name(const Json& j, const std::string& pointer) {
  if (j.is_string()) return j.get<std::string>();
  if (!j.is_object()) wrong_type(pointer, "a name, or an object with \"name\" and options", j);
  if (!j.contains("name"))
    throw ConfigError(child(pointer, "name"), "missing; expected the name of the component",
                      Mistake::Kind::missing);
  if (!j.at("name").is_string()) wrong_type(child(pointer, "name"), "a name", j.at("name"));
  return j.at("name").get<std::string>();
}

/// The options in a component reference: the object without "name", or {}.
inline Json component_options(const Json& j) {
  if (!j.is_object()) return Json::object();
  Json options = j;
  options.erase("name");
  return options;
}

/// Something that a configuration selects by name and that has options. A reference to it is
/// written as "name" or as {"name": ..., options}. `make` creates a Product from the options and
/// Args.
template <class Product, class... Args>
struct Component {
  std::string name;
  std::string doc;
  Schema schema;  // of the options, without "name"
  /// Checks the options strictly and fills in defaults.
  std::function<Json(const Json& options, const std::string& pointer)> resolve;
  /// Creates the product from resolved options.
  std::function<std::unique_ptr<Product>(const Json& resolved, Args...)> make;
};

/// A component whose options are the struct S, with the field table of S.
template <class Product, class... Args, class S, class Make>
Component<Product, Args...> component(std::string name, std::string doc, FieldTable<S> table,
                                      Make make) {
  return {std::move(name), std::move(doc), [table] { return table.schema(); },
          [table](const Json& j, const std::string& pointer) {
            return table.dump(table.parse(j, pointer));
          },
          [table, make](const Json& resolved, Args... args) -> std::unique_ptr<Product> {
            return make(table.parse(component_options(resolved), ""), std::forward<Args>(args)...);
          }};
}

/// Looks up a component of one kind ("algorithm", ...) by name.
template <class Entry>
const Entry& find_component(const std::vector<Entry>& entries, const std::string& kind,
                            const Json& j, const std::string& pointer) {
  const std::string name = component_name(j, pointer);
  for (const Entry& e : entries)
    if (e.name == name) return e;
  std::vector<std::string> names, docs;
  for (const Entry& e : entries) {
    names.push_back(e.name);
    docs.push_back(e.doc);
  }
  unknown_name(j.is_string() ? pointer : child(pointer, "name"), kind, name, names, docs);
}

/// Resolves a reference to {"name": ..., all options}.
template <class Entry>
Json resolve_component(const std::vector<Entry>& entries, const std::string& kind, const Json& j,
                       const std::string& pointer) {
  const Entry& entry = find_component(entries, kind, j, pointer);
  Json resolved = entry.resolve(component_options(j), pointer);
  resolved["name"] = entry.name;
  return resolved;
}

/// JSON Schema of a choice among `entries`, each of which has a `doc` and a `schema` of options.
/// `name` is the member with an entry's name. A choice is this name, or an object that has the name
/// under `key`, and options.
template <class Entry, class Name>
Json schema_of_choices(const std::vector<Entry>& entries, const std::string& key, Name name) {
  Json names = Json::array(), forms = Json::array();
  for (const Entry& e : entries) {
    names.push_back(std::invoke(name, e));
    Json form = e.schema();
    form["description"] = e.doc;
    form["properties"][key] = {{"const", std::invoke(name, e)}};
    form["required"].push_back(key);
    forms.push_back(std::move(form));
  }
  forms.insert(forms.begin(), Json{{"enum", names}});
  return {{"anyOf", forms}};
}

/// JSON Schema of a reference to one of `entries`.
template <class Entry>
Json schema_of_components(const std::vector<Entry>& entries) {
  return schema_of_choices(entries, "name", &Entry::name);
}

/// An option that refers to one of `entries`. Spec has the members `name` and `options` (Json) and
/// holds the resolved options. Dumped as "name" if there are no options.
template <class Spec, class Entry>
OptionType<Spec> component_kind(const std::vector<Entry>& entries, std::string kind) {
  return {[&entries, kind](const Json& j, const std::string& pointer) {
            const Json resolved = resolve_component(entries, kind, j, pointer);
            return Spec{component_name(resolved, pointer), component_options(resolved)};
          },
          [&entries, kind](const Spec& spec) -> Json {
            const Entry& entry = find_component(entries, kind, Json(spec.name), "");
            Json j = entry.resolve(spec.options, "");
            if (j.empty()) return spec.name;
            j["name"] = spec.name;
            return j;
          },
          [&entries] { return schema_of_components(entries); }};
}

}  // namespace trigram
