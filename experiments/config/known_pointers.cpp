#include "experiments/config/known_pointers.h"

#include <algorithm>
#include <set>

#include "experiments/config/experiment.h"

namespace trigram {
namespace {

void collect(const Json& schema, const std::string& pointer, std::set<std::string>& found) {
  if (schema.contains("properties"))
    for (const auto& [key, property] : schema["properties"].items()) {
      found.insert(child(pointer, key));
      collect(property, child(pointer, key), found);
    }
  for (const char* forms : {"anyOf", "oneOf"})
    if (schema.contains(forms))
      for (const Json& form : schema[forms]) collect(form, pointer, found);
}

bool shorter(const std::string& a, const std::string& b) { return a.size() < b.size(); }

}  // namespace

std::string known_pointer(const std::string& name) {
  std::set<std::string> all;
  collect(config_schema(), "", all);
  std::string end = name;
  std::replace(end.begin(), end.end(), '.', '/');
  if (!end.starts_with("/")) end = "/" + end;
  // Tries the whole name first, then drops its leading levels one by one.
  for (; !end.empty(); end.erase(0, std::min(end.find('/', 1), end.size()))) {
    std::vector<std::string> fitting;
    std::copy_if(all.begin(), all.end(), std::back_inserter(fitting),
                 [&end](const std::string& pointer) { return pointer.ends_with(end); });
    if (end.size() > 1 && !fitting.empty())
      return *std::min_element(fitting.begin(), fitting.end(), shorter);
  }
  return "";
}

}  // namespace trigram
