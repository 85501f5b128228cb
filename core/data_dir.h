#pragma once

#include <filesystem>

namespace trigram {

/// Where the program finds the data files that come with it (`configs/` lies below): the folder
/// that $TRIGRAM_DATA_DIR names; else `../share/trigram` beside the running executable, where
/// `cmake --install` puts them; else the fallback.
std::filesystem::path data_dir();

/// Where the program was built to find them: the source tree, unless a program that was built
/// elsewhere says otherwise before it starts.
void set_fallback_data_dir(std::filesystem::path folder);

/// The same without the environment, for an executable at this path.
std::filesystem::path data_dir_of(const std::filesystem::path& executable);

}  // namespace trigram
