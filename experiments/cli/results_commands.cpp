// `status`, `report`, `plot` and `table`: commands that read results.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>

#include "core/config/config_error.h"
#include "core/printable.h"
#include "experiments/cli/commands.h"
#include "experiments/exit_codes.h"
#include "experiments/process/analysis.h"
#include "experiments/results/run_folder.h"
#include "experiments/results/stored_run.h"
#include "experiments/text/labels.h"
#include "experiments/version.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

void check_folder(const std::string& folder) {
  if (std::error_code ignored; !fs::is_directory(folder, ignored))
    throw ConfigError(shortened(folder), "expected a folder of results; found none here");
}

std::string first_line(const std::string& text) {
  return printable(text.substr(0, text.find('\n')));
}

int status(const std::string& folder) {
  check_folder(folder);
  const std::string git = version().git;
  std::map<std::string, int> counts;
  for (const fs::path& path : run_folders(folder)) {
    if (is_unpublished(path)) {
      ++counts[is_leftover(path) ? "interrupted" : "under way"];
      continue;
    }
    const StoredRun run = read_stored_run(path, git);
    ++counts[to_string(run.state)];
    std::string line = fmt::format("{:8}  {}  {}", to_string(run.state), printable(path.string()),
                                   describe(run.manifest.value("sweep", Json::object())));
    if (run.state == StoredRun::failed && run.manifest["error"].is_string())
      line += ": " + first_line(run.manifest["error"].get<std::string>());
    fmt::print("{}\n", line);
  }
  for (const auto& [state, count] : counts) fmt::print("{} {}\n", count, state);
  if (counts.empty()) fmt::print("no runs\n");
  return kOk;
}

/// Replaces this process by the Python package that reads results. `command` is the command of the
/// package with its options. The return type is for use in an Action.
int analyse(const std::string& folder, std::vector<std::string> command) {
  check_folder(folder);
  command.push_back(folder);
  become_analysis(command);
}

/// Adds a subcommand that the Python package runs on a folder of results.
CLI::App* add_analysis(CLI::App& app, const std::string& name, const std::string& help,
                       std::string& folder) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("results", folder, "Results folder: results, results/NAME or results/NAME/ID")
      ->required();
  return command;
}

/// Options of a command that are passed on to the package, as words of its command line.
using Words = std::vector<std::string>;

/// Adds a command of the package that writes a file or a folder. `more` makes the words of its own
/// options when the command runs.
CLI::App* add_writing_analysis(CLI::App& app, Action& action, const std::string& name,
                               const std::string& help, std::function<Words()> more) {
  auto folder = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  CLI::App* command = add_analysis(app, name, help, *folder);
  command->add_option("-o,--output", *output, "File or folder to write to");
  command->callback([=, &action] {
    action = [=] {
      std::vector<std::string> words = {name};
      if (!output->empty()) words.insert(words.end(), {"-o", *output});
      std::ranges::copy(more(), std::back_inserter(words));
      return analyse(*folder, words);
    };
  });
  return command;
}

void add_plot_command(CLI::App& app, Action& action) {
  struct Plot {
    std::vector<std::string> figures, formats;
    std::string width;
  };
  auto plot = std::make_shared<Plot>();
  CLI::App* command = add_writing_analysis(
      app, action, "plot", "Write figures for papers from results: PNG, SVG and PDF", [plot] {
        Words words;
        for (const std::string& name : plot->figures) words.push_back("--figure=" + name);
        for (const std::string& name : plot->formats) words.push_back("--format=" + name);
        if (!plot->width.empty()) words.push_back("--width=" + plot->width);
        return words;
      });
  command
      ->add_option("--figure", plot->figures,
                   "Write only these figures, such as step_time,winner_map; by default, all that "
                   "the results have data for")
      ->delimiter(',');
  command->add_option("--format", plot->formats, "Write only these formats: png, svg, pdf")
      ->delimiter(',')
      ->check(CLI::IsMember({"png", "svg", "pdf"}));
  command->add_option("--width", plot->width,
                      "Width of the figures, such as a paper's column: 85mm, 8.5cm or 3.35in");
}

}  // namespace

void add_status_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto folder = std::make_shared<std::string>("results");
  CLI::App* command = app.add_subcommand("status", "Say which runs are done, failed or stale");
  command
      ->add_option("results", *folder, "Results folder: results, results/NAME or results/NAME/ID")
      ->capture_default_str();
  command->callback([folder, &action] { action = [folder] { return status(*folder); }; });
}

void add_report_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto check = std::make_shared<bool>(false);
  add_writing_analysis(app, action, "report", "Write report.html from results",
                       [check] { return *check ? Words{"--check"} : Words{}; })
      ->add_flag("--check", *check,
                 "Print published results beside these results; exit code 3 if a claim is missed");
  add_plot_command(app, action);
  auto folder = std::make_shared<std::string>();
  auto csv = std::make_shared<bool>(false);
  CLI::App* command = add_analysis(app, "table", "Print the comparison of results", *folder);
  command->add_flag("--csv", *csv, "Print plain numbers in base units, as CSV");
  command->callback([=, &action] {
    action = [=] {
      return analyse(*folder, *csv ? std::vector<std::string>{"table", "--csv"}
                                   : std::vector<std::string>{"table"});
    };
  });
}

}  // namespace trigram
