#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Sets the element of `config` at `target`, a JSON pointer (RFC 6901). If the pointer leads
/// through a component that is given only by its name, the component becomes an object, so that its
/// options can be set: "/algorithm/interval" turns "bytegrad" into {"name": "bytegrad", "interval":
/// ...}. Throws ConfigError at `reported_at`.
void set_at(Json& config, const std::string& target, const Json& value,
            const std::string& reported_at);

/// Parses a value from the command line. A text that is not JSON becomes a JSON string.
Json parse_value(const std::string& text);

/// A setting from the command line: "/json/pointer=value".
struct Setting {
  std::string pointer;
  Json value;
};
Setting parse_setting(const std::string& text);

/// Applies settings in order, except that a parent comes before the fields below it. A setting of a
/// swept pointer replaces the sweep's list. Paths of clusters and algorithms are relative to
/// `base`.
void apply_settings(Json& config, const std::vector<std::string>& settings,
                    const std::filesystem::path& base);

}  // namespace trigram
