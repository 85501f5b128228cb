#pragma once

#include <string>
#include <vector>

namespace trigram {

// Calls of the Python package `trigram`, whose modules need PyTorch.

/// The start of a command line that runs Python with the package, in an environment with these
/// variables ("NAME=VALUE"), too.
std::vector<std::string> torch_python(const std::vector<std::string>& variables = {});

/// Throws ConfigError at `pointer` if Python cannot import `modules` ("torch, trigram.ddp").
/// `what` is the subject of the sentence: WHAT needs PyTorch.
void require_torch(const std::string& modules, const std::string& pointer, const std::string& what);

}  // namespace trigram
