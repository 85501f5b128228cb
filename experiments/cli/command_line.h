#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace trigram {

/// The arguments of a command line. Turns `trigram help run` into `trigram run --help`.
std::vector<std::string> arguments_of(int argc, char** argv);

/// The error message for a command line that `app` rejected with `error`. It suggests the nearest
/// command or option for a misspelt one.
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error);

/// Checks that an option is a number from `least` to `most`. CLI::Range lets NaN pass.
CLI::Validator finite_between(double least, double most);

}  // namespace trigram
