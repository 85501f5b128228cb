#include "experiments/text/labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/printable.h"

namespace trigram {
namespace {

/// The longest list that a label shows, in characters. A longer list, such as a matrix, is
/// abbreviated.
constexpr std::size_t kLongestList = 40;

/// The label of a topology: its kind and its short options.
std::string topology_label(const Json& value) {
  constexpr std::size_t kShort = 20;
  std::string label = printable(value["kind"].get<std::string>());
  for (const auto& [key, option] : value.items()) {
    const std::string text = label_of(option);
    if (key != "kind" && text.size() <= kShort)
      label += fmt::format(" {}={}", printable(key), text);
  }
  return label;
}

/// The label of an algorithm of stages: "stages/local_sgd until 4, bytegrad".
std::string stages_label(const Json& value) {
  std::vector<std::string> parts;
  for (const Json& stage : value["stages"]) {
    parts.push_back(label_of(stage.value("algorithm", Json())));
    if (stage.contains("until")) parts.back() += " until " + label_of(stage["until"]);
  }
  return fmt::format("stages/{}", fmt::join(parts, ", "));
}

bool has_stages(const Json& value) {
  const Json stages = value.value("stages", Json());
  return stages.is_array() && std::ranges::all_of(stages, &Json::is_object);
}

}  // namespace

std::string label_of(const Json& value) {
  if (value.is_string()) {
    const auto text = printable(value.get<std::string>());
    return text.ends_with(".json") ? std::filesystem::path(text).stem().string() : text;
  }
  if (value.is_object() && value.contains("name") && value["name"].is_string()) {
    const std::string name = printable(value["name"].get<std::string>());
    if (name == "stages" && has_stages(value)) return stages_label(value);
    const bool has_mode = value.contains("mode") && value["mode"].is_string();
    return has_mode ? name + "/" + printable(value["mode"].get<std::string>()) : name;
  }
  if (value.is_object() && value.contains("kind") && value["kind"].is_string())
    return topology_label(value);
  const std::string text = quoted(value);
  if (value.is_array() && text.size() > kLongestList)
    return fmt::format("[{} values]", value.size());
  return printable(text);
}

std::string algorithm_label(const Json& manifest) {
  const Json swept = manifest["sweep"].value("/algorithm", Json());
  return label_of(swept.is_string() ? swept : manifest["experiment"]["algorithm"]);
}

std::string options_label(const Json& value) {
  std::vector<std::string> parts;
  if (value.is_object() && value.contains("name"))
    for (const auto& [key, option] : value.items())
      if (key != "name" && key != "mode" && key != "stages")
        parts.push_back(fmt::format("{}={}", key, label_of(option)));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string describe(const Json& sweep_coordinates) {
  std::vector<std::string> parts;
  for (const auto& [pointer, value] : sweep_coordinates.items()) {
    const std::string name = pointer.starts_with("/") ? pointer.substr(1) : pointer;
    const std::string options = options_label(value);
    parts.push_back(fmt::format("{}={}{}{}", printable(name), label_of(value),
                                options.empty() ? "" : " ", options));
  }
  return parts.empty() ? "one run" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace trigram
