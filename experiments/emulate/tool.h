#pragma once

#include <string>
#include <vector>

namespace trigram {

/// Runs a system program with `input` as its stdin and returns its output. Throws
/// std::runtime_error with the program's message if it fails.
std::string run_tool(const std::vector<std::string>& command, const std::string& input = "");

/// The path of a program in PATH; empty if PATH does not contain it.
std::string find_tool(const std::string& name);

/// Throws ConfigError unless PATH contains the program. `package` is the package to install.
void require_tool(const std::string& name, const std::string& package);

}  // namespace trigram
