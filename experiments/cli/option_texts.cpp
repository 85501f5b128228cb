#include "experiments/cli/option_texts.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace trigram {
namespace {

/// The kind of value with the checks of the option, as in "TEXT:{a,b}" or "INT:INT in [1 - 64]".
std::string full_type_of(const CLI::Option& option) {
  return option.get_items_expected_max() > 0 ? option.get_type_name() : "";
}

}  // namespace

std::vector<const CLI::App*> commands_in(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string name_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) return "-" + option.get_snames().front();
  return option.get_name(true);
}

std::string placeholder_of(const CLI::Option& option) {
  const std::string type = full_type_of(option);
  return type.substr(0, type.find(':'));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  // CLI11 gives the members of a CLI::IsMember only in its description.
  const std::string type = full_type_of(option);
  const std::size_t begin = type.find(":{");
  if (begin == std::string::npos || !type.ends_with('}')) return {};
  std::istringstream list(type.substr(begin + 2, type.size() - begin - 3));
  std::vector<std::string> choices;
  for (std::string choice; std::getline(list, choice, ',');) choices.push_back(choice);
  return choices;
}

}  // namespace trigram
