#include "experiments/cli/man_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "experiments/cli/option_texts.h"
#include "experiments/exit_codes.h"

namespace trigram {
namespace {

/// Text in which roff sees no command: backslashes, hyphens, and dots and quotes that begin lines
/// are escaped.
std::string roff(const std::string& text) {
  std::string escaped = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') escaped += "\\e";
    else if (c == '-') escaped += "\\-";
    else if (c == '\n') escaped += ' ';
    else escaped += c;
  }
  return escaped;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

/// An entry of a list: its title, already in roff, and a text.
std::string entry(const std::string& title, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", title, roff(text));
}

/// The names of an option and its kind of value: "-j, --jobs INT".
std::string title_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(bold("-" + name));
  for (const std::string& name : option.get_lnames()) names.push_back(bold("--" + name));
  if (names.empty()) return italic(name_of(option));
  const std::string value = placeholder_of(option);
  return fmt::format("{}{}", fmt::join(names, ", "), value.empty() ? "" : " " + italic(value));
}

/// What an option does, its choices, and its default.
std::string text_of_option(const CLI::Option& option) {
  std::string text = option.get_description();
  if (const auto choices = choices_of(option); !choices.empty())
    text += fmt::format(" (one of {})", fmt::join(choices, ", "));
  if (!option.get_default_str().empty())
    text += fmt::format(" (default: {})", option.get_default_str());
  return text;
}

std::string options_section(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* argument : positionals_of(command))
    text += entry(title_of(*argument), text_of_option(*argument));
  for (const CLI::Option* option : options_of(command))
    text += entry(title_of(*option), text_of_option(*option));
  return text;
}

/// The command line with its positional arguments, those in brackets that may be left out.
std::string synopsis(const std::string& name, const CLI::App& command) {
  std::string line = bold(name) + " [" + italic("options") + "]";
  if (!commands_in(command).empty()) line += " " + italic("command");
  for (const CLI::Option* argument : positionals_of(command)) {
    const std::string shown =
        italic(name_of(*argument)) + (argument->get_items_expected_max() > 1 ? " ..." : "");
    line += argument->get_required() ? " " + shown : " [" + shown + "]";
  }
  return line + "\n";
}

std::string exit_codes() {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] :
       {std::pair{kOk, "Success."},
        {kRunFailed, "A run failed."},
        {kBadInput, "The command line or an input file is wrong; nothing was run."},
        {kClaimMissed, "trigram report --check: a published result was missed."},
        {kWatchdog, "A job was silent for too long and was ended."},
        {kInterrupted, "Interrupted."}})
    text += entry(bold(std::to_string(code)), meaning);
  return text;
}

/// The first lines of a page. `title` has hyphens in place of spaces: "trigram-run".
std::string head(const std::string& title, const std::string& doc, const std::string& version) {
  std::string upper = title;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH {} 1 \"\" \"trigram {}\" \"Trigram\"\n.SH NAME\n{} \\- {}\n", roff(upper),
                     version, roff(title), roff(doc));
}

std::string page_of_command(const CLI::App& command, const std::string& version) {
  const std::string name = "trigram " + command.get_name();
  std::string text = head("trigram-" + command.get_name(), command.get_description(), version);
  text += ".SH SYNOPSIS\n";
  const auto parts = commands_in(command);
  if (parts.empty()) text += synopsis(name, command);
  for (const CLI::App* part : parts) {
    if (part != parts.front()) text += ".br\n";
    text += synopsis(name + " " + part->get_name(), *part);
  }
  text += ".SH OPTIONS\n" + options_section(command);
  for (const CLI::App* part : parts)
    text += fmt::format(".SS {}\n{}\n", roff(name + " " + part->get_name()),
                        roff(part->get_description())) +
            options_section(*part);
  text += "Options of all commands are in\n.BR trigram (1).\n";
  return text + exit_codes() + ".SH SEE ALSO\n.BR trigram (1)\n";
}

std::string page_of_program(const CLI::App& app, const std::string& version) {
  std::string text = head("trigram", app.get_description(), version);
  text += ".SH SYNOPSIS\n" + synopsis("trigram", app) + ".SH COMMANDS\n";
  for (const CLI::App* command : commands_in(app))
    text +=
        entry("\\fBtrigram\\-" + roff(command->get_name()) + "\\fR(1)", command->get_description());
  text += ".SH OPTIONS\nThese may also come after the command.\n" + options_section(app);
  text += ".SH ENVIRONMENT\n" +
          entry(bold("PYTHON"), "The interpreter that makes tables and reports.") +
          entry(bold("TRIGRAM_DATA_DIR"),
                "The folder that contains configs/ and analysis/, instead of the installed one.");
  return text + exit_codes();
}

}  // namespace

std::map<std::string, std::string> man_pages(const CLI::App& app, const std::string& version) {
  std::map<std::string, std::string> pages = {{"trigram.1", page_of_program(app, version)}};
  for (const CLI::App* command : commands_in(app))
    pages["trigram-" + command->get_name() + ".1"] = page_of_command(*command, version);
  return pages;
}

}  // namespace trigram
