#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>

namespace trigram {

/// The manual pages of the program and of each command, in the language of man(7), by the names of
/// their files: trigram.1, trigram-run.1 and so on.
std::map<std::string, std::string> man_pages(const CLI::App& app, const std::string& version);

}  // namespace trigram
