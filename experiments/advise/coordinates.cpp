#include "experiments/advise/coordinates.h"

#include <fmt/format.h>

#include "core/config/component.h"
#include "experiments/text/labels.h"

namespace trigram {

std::string as_axis(const std::string& pointer, const Json& value) {
  return child("/sweep", pointer) + "=" + Json::array({value}).dump();
}

Json candidate_coordinates(const Json& coordinates) {
  Json kept = Json::object();
  for (const auto& [key, value] : coordinates.items())
    if (key != "/steps" && key != "/eval_every" && !key.starts_with("/cluster/") &&
        !(key.starts_with("/workload") && key.ends_with(kStepTime)))
      kept[key] = value;
  return kept;
}

void check_coordinates(const Json& coordinates) {
  for (const auto& [pointer, value] : coordinates.items())
    if (!pointer.starts_with("/algorithm") && !pointer.starts_with("/optimizer"))
      throw ConfigError(child("/sweep", pointer),
                        "candidates may differ only in /algorithm and /optimizer; remove this key "
                        "from the sweep");
}

std::string settings_label(const Json& coordinates) {
  std::string label = options_label(coordinates.value("/algorithm", Json()));
  for (const auto& [pointer, value] : coordinates.items()) {
    if (pointer == "/algorithm" || pointer == "/algorithm/name" || pointer == "/algorithm/mode")
      continue;
    const std::string options = options_label(value);
    const std::string key = pointer.substr(pointer.rfind('/') + 1);
    label += fmt::format("{}{}", label.empty() ? "" : " ",
                         options.empty() ? key + "=" + label_of(value) : options);
  }
  return label;
}

std::string algorithm_in(const Json& coordinates) {
  for (const char* pointer : {"/algorithm", "/algorithm/name"})
    if (coordinates.contains(pointer)) return component_name(coordinates.at(pointer), pointer);
  return "";
}

}  // namespace trigram
