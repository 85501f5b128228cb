#pragma once

#include <filesystem>
#include <vector>

#include "algorithms/registry.h"

namespace trigram {

/// The `trigram` command. Prints results on stdout and everything else on stderr, and returns the
/// exit code. Knows the algorithms of Trigram and those in `added`, whose names must be new. `data`
/// is the folder with configs/ and analysis/ if they are not beside the program; the CMake target
/// that the caller links defines its default.
int trigram_main(int argc, char** argv, std::vector<AlgorithmEntry> added = {},
                 const std::filesystem::path& data = TRIGRAM_DATA_FOLDER);

}  // namespace trigram
