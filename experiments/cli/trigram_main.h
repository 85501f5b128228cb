#pragma once

#include <filesystem>
#include <vector>

#include "algorithms/registry.h"

namespace trigram {

/// The `trigram` command. It prints results on stdout and everything else on stderr, and returns
/// the exit code. Besides the algorithms of Trigram it knows the algorithms in `added`, whose names
/// must be new. `data` is the folder that contains configs/ and analysis/ if they are not beside
/// the program. Its default comes from the CMake target that the caller links.
int trigram_main(int argc, char** argv, std::vector<AlgorithmEntry> added = {},
                 const std::filesystem::path& data = TRIGRAM_DATA_FOLDER);

}  // namespace trigram
