// `emulate`: makes runs in the world mpi, on a network that the kernel of this machine emulates.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/cli/emulated_runs.h"
#include "experiments/config/settings.h"
#include "experiments/exit_codes.h"

namespace trigram {
namespace {

struct EmulateOptions : EmulatedRuns::Options {
  bool clean = false;
};

/// Throws ConfigError if a setting chooses another world than mpi. (A file for another world is no
/// error: it is retargeted to mpi.)
void check_settings(const std::vector<std::string>& settings) {
  for (const std::string& text : settings) {
    const Setting setting = parse_setting(text);
    if (setting.pointer != "/runtime") continue;
    const std::string name = component_name(setting.value, "--set /runtime");
    if (name != "mpi")
      throw ConfigError("--set /runtime",
                        fmt::format("trigram emulate runs the world mpi; expected \"mpi\", or "
                                    "trigram run for the world \"{}\"",
                                    name));
  }
}

int emulate(const EmulateOptions& options, bool quiet) {
  if (options.clean) {
    check_for_namespaces();
    remove_left_namespaces();
    return kOk;
  }
  check_settings(options.settings);
  EmulatedRuns runs(options, quiet);
  const int code = runs.make();
  if (options.program.empty() && code != kInterrupted && code != kBadInput)
    SweepRunner(runs.plan(), options.runner, quiet).print_results();
  return code;
}

}  // namespace

void add_emulate_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<EmulateOptions>();
  CLI::App* command = app.add_subcommand(
      "emulate",
      "Run an experiment in the world mpi on a network that the kernel emulates; needs root");
  command->add_option("config", options->config, "The experiment");
  add_output_option(*command, options->runner);
  add_set_option(*command, options->settings);
  command->add_flag("-f,--force", options->runner.force,
                    "Repeat finished runs, too, such as runs of another version");
  command->add_option("--program", options->program,
                      "A shell command that every worker runs, instead of training, once on each "
                      "of the experiment's networks");
  command->add_flag("--clean", options->clean, "Only remove what killed runs have left behind");
  command->add_option("mpirun", options->launcher, "After --: options for mpirun");
  command->callback([options, &global, &action] {
    if (options->config.empty() && !options->clean) throw CLI::RequiredError("config");
    action = [options, &global] { return emulate(*options, global.quiet); };
  });
}

}  // namespace trigram
