#include "experiments/text/options_label.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "experiments/text/labels.h"

namespace trigram {

std::string options_label(const Json& value) {
  std::vector<std::string> parts;
  if (value.is_object() && value.contains("name"))
    for (const auto& [name, option] : value.items())
      if (name != "name" && name != "mode")
        parts.push_back(fmt::format("{}={}", name, label_of(option)));
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace trigram
