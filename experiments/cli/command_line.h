#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace trigram {

/// The arguments of a command line. Turns `trigram help run` into `trigram run --help`.
std::vector<std::string> arguments_of(int argc, char** argv);

/// The error message for a command line that `app` rejected with `error`. If a command or an option
/// is misspelt, the message suggests the nearest name.
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace trigram
