#include "experiments/config/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

namespace trigram {
namespace {

std::string position(const std::filesystem::path& path, const std::string& text, std::size_t byte) {
  const std::size_t end = std::min(byte, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
  const std::size_t line_start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = line_start == std::string::npos ? end : end - line_start - 1;
  return fmt::format("{}:{}:{}", path.string(), line, std::max<std::size_t>(column, 1));
}

/// What nlohmann says is wrong, without its error number and position.
std::string reason(const nlohmann::json::parse_error& error) {
  const std::string text = error.what();
  const std::size_t detail = text.find("- ");
  std::string tail = detail == std::string::npos ? text : text.substr(detail + 2);
  std::replace(tail.begin(), tail.end(), '\n', ' ');
  return tail;
}

/// Notices keys that an object holds twice, of which the parser would silently keep the last.
class DuplicateKeys {
 public:
  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.back().insert(parsed.get<std::string>()).second)
      throw ConfigError("", fmt::format("the key {} is given twice", parsed.dump()));
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Json read_config_file(const std::filesystem::path& path) {
  errno = std::filesystem::is_directory(path) ? EISDIR : 0;
  std::ifstream file(path, std::ios::binary);
  if (!file || errno == EISDIR)
    throw ConfigError(path.string(), fmt::format("expected a readable JSON file: {}",
                                                 std::strerror(errno ? errno : EIO)));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    DuplicateKeys duplicates;
    return Json::parse(
        text,
        [&](int depth, Json::parse_event_t event, Json& j) { return duplicates(depth, event, j); },
        /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::parse_error& error) {
    throw ConfigError(position(path, text, error.byte), "expected JSON: " + reason(error));
  } catch (const ConfigError& error) {
    throw ConfigError(path.string(), std::string(error.what()).substr(3));
  }
}

namespace {

/// Puts the content of the file that the value of `key` names in its place.
void inline_file(Json& config, const std::string& key, const std::filesystem::path& base) {
  if (!config.contains(key) || !config[key].is_string()) return;
  const std::filesystem::path path = base / config[key].get<std::string>();
  if (!std::filesystem::exists(path))
    throw ConfigError("/" + key, fmt::format("expected a description or the path of one; there is "
                                             "no file {}",
                                             path.string()));
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
