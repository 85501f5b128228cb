#include "experiments/job/statement.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/config/config_error.h"
#include "experiments/text/differences.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

std::string text_of(const Statement& s) {
  const Json j = {
      {"command", s.command}, {"options", s.options}, {"runs", s.runs}, {"error", s.error}};
  // Errors may contain file names, which need not be valid UTF-8.
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Statement statement_in(const std::string& text) {
  const Json j = Json::parse(text);
  const auto text_at = [&](const char* key) { return j.at(key).get<std::string>(); };
  return {text_at("command"), j.at("options"), text_at("runs"), text_at("error")};
}

bool alike(const std::vector<Statement>& statements, std::string Statement::*member) {
  return std::all_of(statements.begin(), statements.end(),
                     [&](const Statement& s) { return s.*member == statements[0].*member; });
}

template <class TextOf>
std::string of_each(const std::vector<Statement>& statements, TextOf text_of) {
  std::vector<std::string> texts;
  for (const Statement& s : statements) texts.push_back(text_of(s));
  return by_ranks(texts);
}

[[noreturn]] void refuse(const std::string& what, const std::string& differences) {
  throw ConfigError("", fmt::format("the processes of the job have different {}; expected the same "
                                    "files and arguments on all of them; {}",
                                    what, differences));
}

/// Throws the errors of all ranks, reported at "rank R" in place of a pointer.
[[noreturn]] void refuse_errors(const std::string& of_ranks) {
  const std::size_t colon = of_ranks.find(": ");
  throw ConfigError(of_ranks.substr(0, colon), of_ranks.substr(colon + 2));
}

/// A process that could not parse its command line may have any command, so it matches all.
bool several_commands(const std::vector<Statement>& statements) {
  const std::string* known = nullptr;
  for (const Statement& s : statements) {
    if (s.command.empty()) continue;
    if (known && *known != s.command) return true;
    known = &s.command;
  }
  return false;
}

std::string command_or_error(const Statement& s) {
  return s.command.empty() ? s.error : "trigram " + s.command;
}

}  // namespace

void check_statements(const std::vector<Statement>& statements) {
  if (several_commands(statements)) refuse("commands", of_each(statements, command_or_error));
  if (!alike(statements, &Statement::error))
    refuse_errors(of_each(statements, [](const Statement& s) { return s.error; }));
  const Json& first = statements.front().options;
  const std::string options =
      of_each(statements, [&](const Statement& s) { return fields_apart(s.options, first); });
  if (!options.empty()) refuse("options of trigram " + statements.front().command, options);
}

std::vector<Statement> exchange_statements(const Statement& mine, double watchdog_s) {
  std::vector<Statement> statements;
  for (const std::string& text : mpi_exchange(text_of(mine), watchdog_s))
    statements.push_back(statement_in(text));
  check_statements(statements);
  return statements;
}

}  // namespace trigram
