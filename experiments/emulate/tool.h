#pragma once

#include <string>
#include <vector>

namespace trigram {

/// Runs a program of the system, with `input` as its stdin, and returns what it printed. Throws
/// std::runtime_error with its own words when it fails.
std::string run_tool(const std::vector<std::string>& command, const std::string& input = "");

/// Throws ConfigError unless PATH has the program; `package` is what installs it.
void require_tool(const std::string& name, const std::string& package);

}  // namespace trigram
