#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config/config_error.h"
#include "core/config/option_type.h"

namespace trigram {

/// The JSON values that a file holds one after another. Throws ConfigError with the line and the
/// column of a syntax error, or of the end of a truncated file.
std::vector<Json> read_json_values(const std::filesystem::path& file);

/// Greater times and sizes are refused: they would not fit integers of 64 bits.
inline constexpr double kGreatest = 9e18;

/// A number of an object, which may also be written as a string, as protobuf writes integers of 64
/// bits; nullopt if the key is absent. Throws ConfigError at POINTER/KEY for anything else.
std::optional<double> number_at(const Json& object, const std::string& key,
                                const std::string& pointer);

/// A line of what a trace contains and a profile does not.
std::string left_out(const std::string& what);

}  // namespace trigram
