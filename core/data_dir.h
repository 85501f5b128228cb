#pragma once

#include <filesystem>

namespace trigram {

/// The folder of the data files that come with the program (it contains `configs/`). This is the
/// folder named by $TRIGRAM_DATA_DIR. If that is unset, it is `../share/trigram` relative to the
/// folder of the running executable, where `cmake --install` puts it. If that does not exist, it is
/// the fallback folder.
std::filesystem::path data_dir();

/// Sets the fallback folder, which is the source tree by default. A program that was built
/// elsewhere calls this at start-up.
void set_fallback_data_dir(std::filesystem::path folder);

/// data_dir() without the environment variable, for an executable at this path.
std::filesystem::path data_dir_of(const std::filesystem::path& executable);

}  // namespace trigram
