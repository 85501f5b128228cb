#include "core/config/fields.h"

#include <utility>

namespace trigram {

namespace {

bool applies_to(const Field& field, const void* options) {
  return !field.applies || field.applies(options);
}

void set_field(const Field& f, const Json& j, const std::string& pointer, void* options) {
  if (j.contains(f.name)) f.set(options, j.at(f.name), child(pointer, f.name));
  else if (f.required)
    throw ConfigError(child(pointer, f.name), "missing; " + f.doc, Mistake::Kind::missing);
}

}  // namespace

void FieldList::add(Field field) {
  fields_.push_back(std::make_shared<const Field>(std::move(field)));
}

void FieldList::include(const FieldList& inner, const std::function<void*(void*)>& member_of) {
  const auto member = [member_of](const void* options) -> const void* {
    return member_of(const_cast<void*>(options));  // only an address is computed
  };
  for (const auto& f : inner.fields_) {
    Field field = *f;
    field.set = [set = f->set, member_of](void* options, const Json& j, const std::string& p) {
      set(member_of(options), j, p);
    };
    field.get = [get = f->get, member](const void* options) { return get(member(options)); };
    if (f->applies)
      field.applies = [applies = f->applies, member](const void* options) {
        return applies(member(options));
      };
    add(std::move(field));
  }
  refused_.insert(refused_.end(), inner.refused_.begin(), inner.refused_.end());
}

void FieldList::last_only_where(std::function<bool(const void*)> applies, std::string why_not) {
  Field field = *fields_.back();
  field.applies = std::move(applies);
  field.why_not = std::move(why_not);
  fields_.back() = std::make_shared<const Field>(std::move(field));
}

void FieldList::refuse(std::string key, std::string reason) {
  refused_.push_back({std::move(key), std::move(reason)});
}

void FieldList::check_known(const std::string& key, const std::string& pointer) const {
  std::vector<std::string> names;
  for (const auto& f : fields_) {
    if (f->name == key) return;
    names.push_back(f->name);
  }
  for (const Refused& r : refused_)
    if (r.key == key) throw ConfigError(child(pointer, key), r.why);
  unknown_name(child(pointer, key), "key", key, names);
}

void FieldList::parse(const Json& j, const std::string& pointer, void* options) const {
  if (!j.is_object()) wrong_type(pointer, "an object", j);
  Mistakes mistakes;
  for (const auto& [key, value] : j.items()) mistakes.passes([&] { check_known(key, pointer); });
  for (const auto& f : fields_) mistakes.passes([&] { set_field(*f, j, pointer, options); });
  mistakes.raise();
  for (const auto& f : fields_)
    if (j.contains(f->name) && !applies_to(*f, options))
      mistakes.add({child(pointer, f->name), f->why_not, Mistake::Kind::without_effect});
  mistakes.raise();
}

Json FieldList::dump(const void* options) const {
  Json j = Json::object();
  for (const auto& f : fields_) {
    if (!applies_to(*f, options)) continue;
    Json value = f->get(options);
    if (!value.is_null()) j[f->name] = std::move(value);
  }
  return j;
}

Json FieldList::schema(const void* defaults) const {
  Json j = {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
  for (const auto& f : fields_) {
    Json property = f->schema();
    property["description"] = f->doc;
    if (f->required) {
      j["required"].push_back(f->name);
    } else if (Json value = f->get(defaults); !value.is_null()) {
      property["default"] = std::move(value);
    }
    j["properties"][f->name] = std::move(property);
  }
  return j;
}

}  // namespace trigram
