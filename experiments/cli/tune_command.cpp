// `tune`: searches the options of an experiment for the least cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>

#include "experiments/cli/ask_tell.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/exit_codes.h"
#include "experiments/sweep/tuned_sweep.h"
#include "experiments/text/shell_word.h"

namespace trigram {
namespace {

struct TuneCommandOptions {
  std::string config;
  std::vector<std::string> settings;
  TunedSweep::Options sweep;
  bool ask_tell = false;
};

int answer_on_stdin(const TuneCommandOptions& options) {
  Tuner tuner = read_tune_options(options.config, options.settings).tuner();
  std::optional<TunedSweep> sweep;
  try {
    answer_requests(
        tuner,
        [&]() -> TunedSweep& {
          if (!sweep) sweep.emplace(options.config, options.settings, options.sweep, true);
          return *sweep;
        },
        std::cin, std::cout);
  } catch (const TunedSweep::Stopped& stopped) {
    return stopped.code;
  }
  return kOk;
}

int tune(const TuneCommandOptions& options, bool quiet) {
  if (options.ask_tell) return answer_on_stdin(options);
  TunedSweep sweep(options.config, options.settings, options.sweep, quiet);
  const int code = sweep.run();
  if (!sweep.record().tried.empty() && code != kInterrupted)
    fmt::print("{}{}", tuning_table(sweep.record(), sweep.options()),
               results_lines(sweep.folder().string()));
  return code;
}

}  // namespace

void add_tune_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<TuneCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "tune", "Search options of an experiment for the least step time or another cost");
  command->add_option("config", options->config, "The experiment, with an object \"tune\"")
      ->required();
  add_output_option(*command, options->sweep.runner);
  add_jobs_option(*command, options->sweep.runner);
  add_set_option(*command, options->settings);
  command->add_flag("-f,--force", options->sweep.runner.force, "Repeat finished runs, too");
  command->add_option("--launcher", options->sweep.launcher,
                      "Run each point as a job of its own under this command, such as \"mpirun -n "
                      "4\", for worlds of processes");
  command->add_flag("--ask-tell", options->ask_tell,
                    "Answer requests on stdin by JSON lines: {\"ask\": k}, {\"tell\": [{\"point\": "
                    "..., \"value\": ...}]} and {\"evaluate\": [points]}");
  command->callback([options, &global, &action] {
    action = [options, &global] { return tune(*options, global.quiet); };
  });
}

}  // namespace trigram
