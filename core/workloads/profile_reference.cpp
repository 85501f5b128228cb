#include "core/workloads/profile_reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/data_dir.h"

namespace trigram {
namespace {

constexpr std::string_view kPrefix = "profile:";

}  // namespace

const std::vector<std::string>& built_in_profiles() {
  static const std::vector<std::string> names = {
      "vgg16",        "resnet50", "bert_large", "bert_base", "transformer_base",
      "lstm_alexnet", "gpt2",     "ddppo"};
  return names;
}

std::string path_in_reference(const std::string& reference) {
  return reference.starts_with(kPrefix) ? reference.substr(kPrefix.size()) : "";
}

void refuse_bare_path(const std::string& name, const std::string& pointer) {
  const bool path =
      name.ends_with(".csv") || name.ends_with(".json") || name.find('/') != std::string::npos;
  if (path && !name.starts_with(kPrefix))
    throw ConfigError(pointer,
                      fmt::format("expected a name, or the path of a profile as \"{}PATH\", "
                                  "not \"{}\"{}",
                                  kPrefix, name, did_you_mean(std::string(kPrefix) + name)));
}

OptionType<std::string> profile_reference() {
  Json schema = {{"anyOf",
                  {{{"enum", built_in_profiles()}},
                   {{"type", "string"}, {"pattern", "^" + std::string(kPrefix) + ".+"}}}}};
  return {[](const Json& j, const std::string& pointer) {
            if (!j.is_string()) wrong_type(pointer, "a profile's name or \"profile:PATH\"", j);
            const auto reference = j.get<std::string>();
            const auto& names = built_in_profiles();
            if (path_in_reference(reference).empty() &&
                std::ranges::find(names, reference) == names.end()) {
              refuse_bare_path(reference, pointer);
              std::vector<std::string> expected = names;
              expected.emplace_back("profile:PATH");
              unknown_name(pointer, "profile", reference, expected);
            }
            return reference;
          },
          [](const std::string& reference) -> Json { return reference; }, std::move(schema)};
}

std::filesystem::path profile_file(const std::string& reference) {
  if (const std::string path = path_in_reference(reference); !path.empty()) return path;
  return data_dir() / "configs" / "profiles" / (reference + ".csv");
}

}  // namespace trigram
