#pragma once

#include <filesystem>

#include "core/config/option_type.h"

namespace trigram {

/// Reads a JSON file that may contain // and /* */ comments. Throws ConfigError, with file, line
/// and column, if the file cannot be read, is not JSON, or repeats a key.
Json read_config_file(const std::filesystem::path& path);

/// If "cluster" is a path, or "algorithm" ends in .json, replaces it by the content of that file.
/// Paths are relative to `base`.
void inline_files(Json& config, const std::filesystem::path& base);

}  // namespace trigram
