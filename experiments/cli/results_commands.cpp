// `status`, `report`, `plot`, `table` and `export`: commands that read results.
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

/// JSON text; bytes that are no UTF-8, such as those of a hostile path, are replaced.
std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string first_line(const std::string& text) {
  return printable(text.substr(0, text.find('\n')));
}

/// The folders of a results folder as JSON, with the states of their runs.
Json status_json(const std::string& folder) {
  const std::string git = version().git;
  Json runs = Json::array();
  for (const fs::path& path : run_folders(folder)) {
    Json run = {{"path", path.string()}, {"sweep", nullptr}, {"error", nullptr}};
    if (is_unpublished(path)) {
      run["state"] = is_leftover(path) ? "interrupted" : "under way";
    } else {
      const StoredRun stored = read_stored_run(path, git);
      run["state"] = to_string(stored.state);
      run["sweep"] = stored.manifest.value("sweep", Json::object());
      if (stored.state == StoredRun::failed) run["error"] = stored.manifest.value("error", Json());
      if (!stored.why_stale.empty()) run["why_stale"] = stored.why_stale;
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

int status(const std::string& folder, bool as_json) {
  check_folder(folder);
  const Json runs = status_json(folder);
  if (as_json) {
    fmt::print("{}\n", dumped(runs));
    return kOk;
  }
  std::map<std::string, int> counts;
  for (const Json& run : runs) {
    const std::string state = run.at("state");
    ++counts[state];
    if (run.at("sweep").is_null()) continue;
    std::string line =
        fmt::format("{:8}  {}  {}", state, printable(run.at("path").get<std::string>()),
                    describe(run.at("sweep")));
    if (run.at("error").is_string()) line += ": " + first_line(run.at("error").get<std::string>());
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
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([=, &action] { action = [=] { return status(*folder, *as_json); }; });
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
  auto as_json = std::make_shared<bool>(false);
  CLI::Option* const csv_flag =
      command->add_flag("--csv", *csv, "Print plain numbers in base units, as CSV");
  command->add_flag("--json", *as_json, "Print plain numbers in base units, as JSON")
      ->excludes(csv_flag);
  command->callback([=, &action] {
    action = [=] {
      std::vector<std::string> words = {"table"};
      if (*csv) words.emplace_back("--csv");
      if (*as_json) words.emplace_back("--json");
      return analyse(*folder, words);
    };
  });
}

void add_export_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto folder = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  auto formats = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      add_analysis(app, "export", "Write the numbers of results for other programs", *folder);
  command->add_option("-o,--output", *output, "Folder to write to; RESULTS/export by default");
  command
      ->add_option("--format", *formats,
                   "csv, jsonl, tensorboard or parquet, which needs pyarrow; by default, the first "
                   "three")
      ->delimiter(',')
      ->check(CLI::IsMember({"csv", "jsonl", "tensorboard", "parquet"}));
  command->callback([=, &action] {
    action = [=] {
      std::vector<std::string> words = {"export"};
      if (!output->empty()) words.insert(words.end(), {"-o", *output});
      for (const std::string& format : *formats) words.insert(words.end(), {"--format", format});
      return analyse(*folder, words);
    };
  });
}

}  // namespace trigram
