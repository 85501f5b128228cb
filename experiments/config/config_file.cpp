#include "experiments/config/config_file.h"

#include <fmt/format.h>

#include "core/config/json_text.h"
#include "core/files.h"

namespace trigram {

Json read_config_file(const std::filesystem::path& path) {
  const auto error_at = [&path](const std::string& place, const std::string& why) {
    return ConfigError({Mistake{"", why, Mistake::Kind::wrong, path.string() + place}});
  };
  try {
    return parse_json(read_text_file(path));
  } catch (const JsonTextError& error) {
    throw error_at(error.place().empty() ? "" : ":" + error.place(), error.what());
  } catch (const std::runtime_error& error) {
    throw error_at("", error.what());
  }
}

namespace {

/// If the value of `key` is a path, replaces it by the content of that file.
void inline_file(Json& config, const std::string& key, const std::filesystem::path& base) {
  if (!config.contains(key) || !config[key].is_string()) return;
  const std::filesystem::path path = base / config[key].get<std::string>();
  if (std::error_code ignored; !std::filesystem::exists(path, ignored))
    throw ConfigError(
        "/" + key,
        fmt::format("expected a description or the path of a description; there is no file {}",
                    shortened(path.string())));
  Json content = read_config_file(path);
  if (content.is_object()) content.erase("$schema");
  config[key] = std::move(content);
}

}  // namespace

void inline_files(Json& config, const std::filesystem::path& base) {
  if (!config.is_object()) return;
  inline_file(config, "cluster", base);
  const auto algorithm = config.find("algorithm");
  if (algorithm != config.end() && algorithm->is_string() &&
      algorithm->get<std::string>().ends_with(".json"))
    inline_file(config, "algorithm", base);
}

}  // namespace trigram
