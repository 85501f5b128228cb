#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Sets the element of `config` that `target`, a JSON pointer (RFC 6901), points to. A component on
/// the way that is only a name becomes an object, so that its options can be set:
/// "/algorithm/interval" turns "bytegrad" into {"name": "bytegrad", "interval": ...}. Errors are
/// reported at `reported_at`.
void set_at(Json& config, const std::string& target, const Json& value,
            const std::string& reported_at);

/// Parses a command-line value. Text that is not JSON becomes a JSON string.
Json parse_value(const std::string& text);

/// A command-line setting "/json/pointer=value".
struct Setting {
  std::string pointer;
  Json value;
};
Setting parse_setting(const std::string& text);

/// Applies settings in order, except that a parent comes before the fields below it. A setting for
/// a swept pointer replaces the sweep's list. Cluster and algorithm paths are relative to `base`.
void apply_settings(Json& config, const std::vector<std::string>& settings,
                    const std::filesystem::path& base);

}  // namespace trigram
