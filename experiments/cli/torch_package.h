#pragma once

#include <string>
#include <vector>

namespace trigram {

// Calls of the Python package `trigram`, whose modules need PyTorch.

/// The start of a command line that runs Python with the package, in an environment with these
/// variables ("NAME=VALUE"), too. Modules are not imported from the current folder.
std::vector<std::string> torch_python(const std::vector<std::string>& variables = {});

/// Throws ConfigError at `pointer` if Python has no PyTorch. `need` is the beginning of the
/// sentence, such as "profile needs PyTorch".
void require_torch(const std::string& pointer, const std::string& need);

}  // namespace trigram
