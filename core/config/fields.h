#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/config/kinds.h"

namespace trigram {

/// The fields of an options struct S: one table from which parsing, canonical output, defaults and
/// JSON Schema all follow. S{} holds the defaults. Unknown keys are errors.
///
///   FieldTable<Options>{}.field("interval", &Options::interval, quantity(Dimension::duration),
///   "...")
template <class S>
class FieldTable {
 public:
  template <class T>
  FieldTable& field(std::string name, T S::*member, Kind<T> kind, std::string doc) {
    return add(std::move(name), member, std::move(kind), std::move(doc), false);
  }
  template <class T>
  FieldTable& required(std::string name, T S::*member, Kind<T> kind, std::string doc) {
    return add(std::move(name), member, std::move(kind), std::move(doc), true);
  }
  /// The fields of a member that is itself an options struct, as if they were S's own.
  template <class T>
  FieldTable& include(T S::*member, const FieldTable<T>& inner) {
    for (const auto& f : inner.fields_) {
      fields_.push_back({f.name, f.doc, f.required, f.schema,
                         [set = f.set, member](S& s, const Json& j, const std::string& p) {
                           set(s.*member, j, p);
                         },
                         [get = f.get, member](const S& s) { return get(s.*member); }});
      if (f.applies)
        fields_.back().applies = [applies = f.applies, member](const S& s) {
          return applies(s.*member);
        };
      fields_.back().why_not = f.why_not;
    }
    for (const auto& [key, why] : inner.refused_) refused_.push_back({key, why});
    return *this;
  }
  /// The field added last means something only where `applies`; elsewhere it is not dumped, and
  /// refused when it is given, for the reason `why_not`.
  FieldTable& only_where(std::function<bool(const S&)> applies, std::string why_not) {
    fields_.back().applies = std::move(applies);
    fields_.back().why_not = std::move(why_not);
    return *this;
  }
  /// A key that users may well try here, with the reason why it is not accepted.
  FieldTable& refuse(std::string key, std::string reason) {
    refused_.push_back({std::move(key), std::move(reason)});
    return *this;
  }

  S parse(const Json& j, const std::string& pointer) const {
    if (!j.is_object()) wrong_type(pointer, "an object", j);
    for (const auto& [key, value] : j.items()) check_known(key, pointer);
    S result{};
    for (const auto& f : fields_) {
      if (j.contains(f.name)) f.set(result, j.at(f.name), child(pointer, f.name));
      else if (f.required) throw ConfigError(child(pointer, f.name), "missing; " + f.doc);
    }
    for (const auto& f : fields_)
      if (j.contains(f.name) && !f.applies_to(result))
        throw ConfigError(child(pointer, f.name), f.why_not);
    return result;
  }
  Json dump(const S& s) const {
    Json j = Json::object();
    for (const auto& f : fields_) {
      if (!f.applies_to(s)) continue;
      Json value = f.get(s);
      if (!value.is_null()) j[f.name] = std::move(value);
    }
    return j;
  }
  Json schema() const {
    Json j = {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
    const S defaults{};
    for (const auto& f : fields_) {
      Json property = f.schema;
      property["description"] = f.doc;
      if (f.required) {
        j["required"].push_back(f.name);
      } else if (Json value = f.get(defaults); !value.is_null()) {
        property["default"] = std::move(value);
      }
      j["properties"][f.name] = std::move(property);
    }
    return j;
  }

 private:
  template <class>
  friend class FieldTable;
  struct Field {
    std::string name, doc;
    bool required;
    Json schema;
    std::function<void(S&, const Json&, const std::string&)> set;
    std::function<Json(const S&)> get;
    std::function<bool(const S&)> applies = {};  // empty: always
    std::string why_not = {};
    bool applies_to(const S& s) const { return !applies || applies(s); }
  };
  struct Refused {
    std::string key, why;
  };

  template <class T>
  FieldTable& add(std::string name, T S::*member, Kind<T> kind, std::string doc, bool required) {
    fields_.push_back({std::move(name), std::move(doc), required, kind.schema,
                       [member, parse = kind.parse](S& s, const Json& j, const std::string& p) {
                         s.*member = parse(j, p);
                       },
                       [member, dump = kind.dump](const S& s) { return dump(s.*member); }});
    return *this;
  }
  void check_known(const std::string& key, const std::string& pointer) const {
    std::vector<std::string> names;
    for (const auto& f : fields_) names.push_back(f.name);
    if (std::find(names.begin(), names.end(), key) != names.end()) return;
    for (const auto& r : refused_)
      if (r.key == key) throw ConfigError(child(pointer, key), r.why);
    unknown_name(child(pointer, key), "key", key, names);
  }

  std::vector<Field> fields_;
  std::vector<Refused> refused_;
};

/// A struct with a table of its own, written as a nested object.
template <class S>
Kind<S> nested(FieldTable<S> table) {
  Json schema = table.schema();
  return {[table](const Json& j, const std::string& pointer) { return table.parse(j, pointer); },
          [table](const S& s) { return table.dump(s); }, std::move(schema)};
}

}  // namespace trigram
