#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace trigram {

/// The arguments of a command line: `trigram help run` as `trigram run --help`.
std::vector<std::string> arguments_of(int argc, char** argv);

/// The sentence for a command line that `app` refused with `error`; it names the nearest command or
/// option where one is misspelt.
std::string complaint_of(const CLI::App& app, const CLI::ParseError& error);

/// Checks that an option is a number from `least` to `most`. CLI::Range lets NaN pass.
CLI::Validator finite_between(double least, double most);

}  // namespace trigram
