#include "core/config/component.h"

namespace trigram {

std::string component_name(const Json& j, const std::string& pointer) {
  if (j.is_string()) return j.get<std::string>();
  if (!j.is_object()) wrong_type(pointer, "a name, or an object with \"name\" and options", j);
  if (!j.contains("name"))
    throw ConfigError(child(pointer, "name"), "missing; expected the name of the component",
                      Mistake::Kind::missing);
  if (!j.at("name").is_string()) wrong_type(child(pointer, "name"), "a name", j.at("name"));
  return j.at("name").get<std::string>();
}

Json component_options(const Json& j) {
  if (!j.is_object()) return Json::object();
  Json options = j;
  options.erase("name");
  return options;
}

}  // namespace trigram
