#include "experiments/cli/trigram_main.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>

#include "core/config/config_error.h"
#include "core/files.h"
#include "core/logging/rank_log.h"
#include "core/printable.h"
#include "experiments/cli/command_line.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/completion.h"
#include "experiments/cli/man_pages.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"
#include "experiments/text/print_error.h"
#include "experiments/version.h"
#include "experiments/worlds.h"

namespace trigram {
namespace {

std::string version_text() {
  const Version v = version();
  std::string text = fmt::format("trigram {} ({})\nworlds:", v.number, v.git);
  for (const World& world : worlds())
    text += fmt::format(" {}{}", world.name, world.absent.empty() ? "" : " (absent)");
  for (const auto& [library, number] : v.libraries)
    text += fmt::format("\n{}: {}", library, number);
  return text;
}

void configure_log(const std::string& level) {
  auto log = spdlog::stderr_logger_mt("trigram");
  log->set_pattern("%^%l%$: %v");
  log->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(log);
}

/// Throws ConfigError for a command that must not run in a job, because every process would repeat
/// it and write the same files.
void check_may_run_in_job(const std::string& command) {
  const auto job_commands = {"run", "replay", "bench", "calibrate"};
  if (!has_other_processes() ||
      std::ranges::find(job_commands, command) != std::ranges::end(job_commands))
    return;
  const std::string error = fmt::format("runs in one process; run it without a launcher, or {}",
                                        fmt::join(job_commands, ", "));
  agree_on_error(fmt::format("{}: {}", command, error));
  throw ConfigError(command, error);
}

/// Writes the manual pages into an existing folder.
void write_man_pages(const CLI::App& app, const std::filesystem::path& folder) {
  for (const auto& [name, text] : man_pages(app, version().number)) {
    std::ofstream file(folder / name);
    if (!(file << text) || !file.flush())
      throw ConfigError("--man-pages", fmt::format("{} cannot be written; expected a folder that "
                                                   "exists",
                                                   printable((folder / name).string())));
  }
}

/// Serves shells (`--complete WORD...`) and the installation (`--man-pages FOLDER`), which ask for
/// the tables of commands. Returns false for any other command line.
bool described_itself(const CLI::App& app, const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "--complete")
    fmt::print("{}", completions(app, {words.begin() + 1, words.end()}));
  else if (words.size() == 2 && words.front() == "--man-pages") write_man_pages(app, words.back());
  else return false;
  return true;
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Simulates and emulates data-parallel training with relaxed communication.",
               "trigram");
  GlobalOptions global;
  std::string log_level = "info";
  Action action;
  app.set_version_flag("--version", version_text());
  app.add_flag("-q,--quiet", global.quiet, "Print no progress");
  app.add_option("--log-level", log_level, "How much to log")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "critical", "off"}));
  app.require_subcommand(1);
  app.fallthrough();
  for (const auto add_command : {add_run_command,       add_advise_command,
                                 add_bandwidth_command, add_tune_command,
                                 add_emulate_command,   add_launch_command,
                                 add_replay_command,    add_profile_command,
                                 add_import_command,    add_compare_worlds_command,
                                 add_why_command,       add_status_command,
                                 add_validate_command,  add_init_command,
                                 add_list_command,      add_show_command,
                                 add_schema_command,    add_report_command,
                                 add_export_command,    add_bench_command,
                                 add_calibrate_command, add_serve_command,
                                 add_doctor_command})
    add_command(app, global, action);
  std::vector<std::string> words = arguments_of(argc, argv);
  if (described_itself(app, {argv + std::min(argc, 1), argv + argc})) return kOk;
  set_job_arguments(words);
  std::ranges::reverse(words);  // CLI11 expects them in reverse
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help or --version
    const std::string text = parse_error_text(app, error);
    agree_on_error(text);
    print_error(text);
    return kBadInput;
  }
  configure_log(log_level);
  check_may_run_in_job(app.get_subcommands().front()->get_name());
  return action();
}

/// Flushes stdout. Returns `code`, or a failure code if stdout could not be written. It is no
/// failure if the reader of stdout, such as head, has closed the pipe.
int flush_output(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) return code;
  print_error("the output could not be written");
  return code == kOk ? kRunFailed : code;
}

/// True if the error means that the reader of stdout has closed the pipe.
bool is_closed_stdout(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  return system && system->code() == std::errc::broken_pipe && std::ferror(stdout) != 0;
}

}  // namespace

int trigram_main(int argc, char** argv, std::vector<AlgorithmEntry> added,
                 const std::filesystem::path& data) {
  try {
    set_fallback_data_dir(data);
    for (AlgorithmEntry& entry : added) add_algorithm(std::move(entry));
    return flush_output(run_command_line(argc, argv));
  } catch (const ConfigError& error) {
    rank_log::print("bad input: {}", error.what());
    if (rank_in_job() == 0) print_error(error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    if (is_closed_stdout(error)) return kOk;
    rank_log::print("fails: {}", error.what());
    print_error(printable(error.what()));
    return kRunFailed;
  }
}

}  // namespace trigram
