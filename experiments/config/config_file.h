#pragma once

#include <filesystem>

#include "core/config/option_type.h"

namespace trigram {

/// Reads a JSON file that may hold // and /* */ comments. Throws ConfigError, with file, line and
/// column, for one that cannot be read, is not JSON, or gives a key twice.
Json read_config_file(const std::filesystem::path& path);

/// Puts the content of the file in place of a "cluster" that is a path, and of an "algorithm" that
/// ends in .json, taken relative to `base`.
void inline_files(Json& config, const std::filesystem::path& base);

}  // namespace trigram
