#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Writes `value` where `target`, a JSON pointer (RFC 6901), leads within `config`. A component
/// given by name alone on the way becomes an object, so that its options can be reached:
/// "/algorithm/interval" turns "bytegrad" into {"name": "bytegrad", "interval": ...}. Errors are
/// reported at `reported_at`.
void set_at(Json& config, const std::string& target, const Json& value,
            const std::string& reported_at);

/// A value of a command line: what is not JSON is a text.
Json parse_value(const std::string& text);

/// A command-line setting "/json/pointer=value".
struct Setting {
  std::string pointer;
  Json value;
};
Setting parse_setting(const std::string& text);

/// Applies settings in order. One for a swept pointer takes the place of the sweep's list. Paths of
/// clusters are relative to `base`.
void apply_settings(Json& config, const std::vector<std::string>& settings,
                    const std::filesystem::path& base);

}  // namespace trigram
