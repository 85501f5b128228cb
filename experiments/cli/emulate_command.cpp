// `emulate`: the world mpi on a network that the kernel of this machine emulates.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "experiments/cli/commands.h"
#include "experiments/cli/job.h"
#include "experiments/cli/sweep_runner.h"
#include "experiments/config/config_file.h"
#include "experiments/emulate/emulated_network.h"
#include "experiments/emulate/launch.h"
#include "experiments/emulate/namespaces.h"
#include "experiments/emulate/tool.h"
#include "experiments/emulate/watcher.h"
#include "experiments/exit_codes.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string config;
  std::vector<std::string> settings, launcher;
  SweepRunner::Options runner;
  bool clean = false;
};

/// Runs of one network, which one job makes.
struct Group {
  EmulatedNetwork network;
  std::vector<std::string> ids;
};

void check_machine() {
  if (geteuid() != 0)
    throw ConfigError("emulate",
                      "network namespaces need root; start it as root, as by sudo, or take the "
                      "world threads, which emulates networks without");
  require_tool("ip", "iproute2");
  require_tool("tc", "iproute2");
  require_tool("unshare", "util-linux");
  if (in_a_job()) throw ConfigError("emulate", "starts mpirun itself; expected it without one");
}

fs::path make_folder() {
  std::string name = (fs::temp_directory_path() / "trigram-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), name);
  return name;
}

/// Those runs of the plan that are not there yet, by network.
std::vector<Group> missing_runs(const Plan& plan, const SweepRunner& runner, bool force) {
  std::vector<Group> groups;
  for (const PlannedRun& run : plan.runs) {
    EmulatedNetwork network = emulated_network(run.experiment);  // checks every run
    if (!force && runner.state(run) == StoredRun::done) continue;
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const Group& g) { return g.network == network; });
    if (same == groups.end()) same = groups.insert(same, Group{std::move(network), {}});
    same->ids.push_back(run.id);
  }
  return groups;
}

std::vector<std::string> run_command(const Options& options,
                                     const std::vector<std::string>& settings, const Group& group,
                                     bool quiet) {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe"),
                                    "run",
                                    options.config,
                                    "--output",
                                    options.runner.output,
                                    "--no-table"};
  for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
  for (const std::string& id : group.ids) words.insert(words.end(), {"--only", id});
  if (options.runner.force) words.push_back("--force");
  if (quiet) words.push_back("--quiet");
  return words;
}

/// A file for another world is taken to the world mpi, with messages of the size that they have in
/// those that price or shape them. Who makes the network's latency depends on the kernel.
std::vector<std::string> settings_of(const Options& options, bool netem) {
  const Json file = read_config_file(options.config);
  std::vector<std::string> settings;
  if (!file.contains("runtime") || component_name(file["runtime"], "/runtime") != "mpi")
    settings.push_back(R"(/runtime={"name": "mpi", "padded": true})");
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  settings.push_back(
      fmt::format("/runtime/emulated={}", netem ? "bandwidth_and_latency" : "bandwidth"));
  return settings;
}

int emulate(const Options& options, bool quiet) {
  check_machine();
  if (const int swept = sweep_namespaces(); swept > 0)
    spdlog::warn("{} namespaces of runs that had been killed were removed", swept);
  if (options.clean) return kOk;
  require_tool("mpirun", "openmpi-bin");
  const fs::path folder = make_folder();
  const Watcher watcher(folder);
  const bool netem = kernel_has_netem();
  if (!netem)
    spdlog::info("this kernel has no netem: it emulates bandwidth, and the ranks add the latency");
  const std::vector<std::string> settings = settings_of(options, netem);
  const Plan plan = make_plan(options.config, settings, false);
  const SweepRunner runner(plan, options.runner, quiet);
  int code = kOk;
  for (const Group& group : missing_runs(plan, runner, options.runner.force)) {
    const KernelNetwork network(group.network);
    const int ended = launch_job(group.network, folder, options.launcher,
                                 run_command(options, settings, group, quiet));
    if (ended == kInterrupted || ended == kBadInput) return ended;
    if (code == kOk) code = ended;
  }
  runner.print_results();
  return code;
}

}  // namespace

void add_emulate_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "emulate",
      "Make the runs of an experiment in the world mpi, on a network that the kernel "
      "emulates; needs root");
  command->add_option("config", options->config, "The experiment");
  command->add_option("-o,--output", options->runner.output, "Folder for results")
      ->capture_default_str();
  command->add_option("--set", options->settings, "/json/pointer=value, in place of the file's")
      ->allow_extra_args(false);
  command->add_flag("-f,--force", options->runner.force,
                    "Make finished runs again too, such as those of another version");
  command->add_flag("--clean", options->clean,
                    "Only remove what runs that were killed have left behind");
  command->add_option("mpirun", options->launcher, "After --: options for mpirun");
  command->callback([options, &global, &action] {
    if (options->config.empty() && !options->clean) throw CLI::RequiredError("config");
    action = [options, &global] { return emulate(*options, global.quiet); };
  });
}

}  // namespace trigram
