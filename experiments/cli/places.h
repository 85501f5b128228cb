#pragma once

#include <filesystem>

namespace trigram {

/// The folder that holds configs/ and analysis/: ../share/trigram beside the folder of this
/// program. The build tree has one too, of links to the sources.
std::filesystem::path data_folder();

}  // namespace trigram
