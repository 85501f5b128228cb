#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace trigram {

// The tables of commands and options as CLI11 has them, for completions and manual pages.

/// The subcommands of `app`, in the order in which they were added.
std::vector<const CLI::App*> commands_in(const CLI::App& app);
/// The options of `app` that have a name with dashes and are shown to users.
std::vector<const CLI::Option*> options_of(const CLI::App& app);
/// The positional arguments of `app`, in their order.
std::vector<const CLI::Option*> positionals_of(const CLI::App& app);

/// The longest name: "--output", or "config" for a positional argument.
std::string name_of(const CLI::Option& option);
/// The kind of value, such as "TEXT" or "INT"; empty for a flag.
std::string placeholder_of(const CLI::Option& option);
/// The values from which an option's value must be; empty if there is no such list.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace trigram
