#pragma once

#include <filesystem>

namespace trigram {

/// The folder of the data files that come with the program (it contains `configs/`): the folder
/// named by $TRIGRAM_DATA_DIR; else `../share/trigram` relative to the folder of the running
/// executable, where `cmake --install` puts it; else the fallback.
std::filesystem::path data_dir();

/// Sets the fallback folder. It is the source tree by default; a program that was built elsewhere
/// calls this at start-up.
void set_fallback_data_dir(std::filesystem::path folder);

/// The same, without the environment variable, for an executable at this path.
std::filesystem::path data_dir_of(const std::filesystem::path& executable);

}  // namespace trigram
