#pragma once

#include <filesystem>

namespace trigram {

/// Where the program finds the data files that come with it (`configs/` lies below): the folder
/// that $TRIGRAM_DATA_DIR names; else `../share/trigram` beside the running executable, where
/// `cmake --install` puts them; else the source tree that the program was built from.
std::filesystem::path data_dir();

}  // namespace trigram
