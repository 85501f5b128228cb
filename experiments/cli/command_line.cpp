#include "experiments/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/config/option_type.h"
#include "core/printable.h"

namespace trigram {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// The innermost command on the command line: "network" in `trigram show network`.
const CLI::App& innermost(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? app : innermost(*given.front());
}

/// The error message for a word that is no command of `app`.
std::string unknown_command(const CLI::App& app, const std::string& word) {
  try {
    unknown_name(app.get_name(), "command", word, commands_of(app));
  } catch (const ConfigError& error) {
    return error.mistakes().front().message;
  }
}

std::string unknown_option(const CLI::App& app, const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* scope : {&command, &app})
    for (const CLI::Option* option : scope->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::string name = word.substr(0, word.find('='));
  return fmt::format("{}: no such option of trigram {}{}", name, command.get_name(),
                     did_you_mean(name, names));
}

}  // namespace

std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto command = std::ranges::find_if_not(words, is_option);
  if (command == words.end() || *command != "help") return words;
  words.erase(command);
  words.emplace_back("--help");
  return words;
}

std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> rest = app.remaining(true);
  if (!command.get_subcommands([](const CLI::App*) { return true; }).empty()) {
    const auto word = std::ranges::find_if_not(rest, is_option);
    if (word != rest.end()) return printable(unknown_command(command, *word));
    if (rest.empty())
      return fmt::format("expected a command, one of {}; trigram help says what they do",
                         fmt::join(commands_of(command), ", "));
  }
  for (const std::string& word : rest)
    if (is_option(word)) return printable(unknown_option(app, command, word));
  return printable(error.what());
}

}  // namespace trigram
