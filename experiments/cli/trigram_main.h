#pragma once

#include <filesystem>
#include <vector>

#include "algorithms/registry.h"

namespace trigram {

/// The `trigram` command: stdout is for results, stderr for the rest, the value is the exit code.
/// It knows the algorithms of Trigram and those `added`, which may not bear the same names. `data`
/// holds configs/ and analysis/ where they do not lie beside the program; the CMake target that the
/// caller links says where.
int trigram_main(int argc, char** argv, std::vector<AlgorithmEntry> added = {},
                 const std::filesystem::path& data = TRIGRAM_DATA_FOLDER);

}  // namespace trigram
