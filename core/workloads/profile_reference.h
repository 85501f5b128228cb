#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Names of the profiles that come with the program.
const std::vector<std::string>& built_in_profiles();

/// A profile by reference: the name of a built-in one, or "profile:PATH".
OptionType<std::string> profile_reference();

/// Returns PATH for "profile:PATH"; empty for anything else.
std::string path_in_reference(const std::string& reference);

/// Throws ConfigError if `name` is a path rather than a name or "profile:PATH".
void refuse_bare_path(const std::string& name, const std::string& pointer);

/// The file that a reference refers to.
std::filesystem::path profile_file(const std::string& reference);

}  // namespace trigram
