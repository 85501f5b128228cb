#include "experiments/cli/emulated_runs.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "experiments/emulate/emulated_network.h"
#include "experiments/emulate/launch.h"
#include "experiments/emulate/namespaces.h"
#include "experiments/emulate/tool.h"
#include "experiments/emulate/watcher.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// Runs on the same network, which one job makes.
struct Group {
  EmulatedNetwork network;
  std::vector<std::string> ids;
};

/// The group of this network, which is added to `groups` if it is not there yet.
Group& find_or_add_group(EmulatedNetwork network, std::vector<Group>& groups) {
  const auto group = std::ranges::find(groups, network, &Group::network);
  return group != groups.end() ? *group : groups.emplace_back(Group{std::move(network), {}});
}

/// By default, messages have their priced size on the wire. The kernel adds the network's latency
/// if it has netem; otherwise the ranks do.
Json emulated_world(bool netem) {
  return {{"name", "mpi"},
          {"padded", true},
          {"emulated", netem ? "bandwidth_and_latency" : "bandwidth"}};
}

/// Plans the runs, and checks that all of them can be emulated.
Plan emulated_plan(const Json& world, const EmulatedRuns::Options& options) {
  Plan plan =
      make_plan(options.config, options.settings, {.world = world, .in_this_process = false});
  for (const PlannedRun& run : plan.runs) {
    if (run.experiment.runtime.at("emulated") != world["emulated"])
      throw ConfigError("/runtime/emulated",
                        "is set by trigram emulate for the network that it makes; remove it");
    emulated_network(run.experiment);
  }
  return plan;
}

/// The missing runs of the plan, grouped by network.
std::vector<Group> missing_runs(const Plan& plan, const SweepRunner& runner, bool force) {
  std::vector<Group> groups;
  for (const PlannedRun& run : plan.runs)
    if (force || runner.state(run) != StoredRun::done)
      find_or_add_group(emulated_network(run.experiment), groups).ids.push_back(run.id);
  return groups;
}

/// Every network of the plan once, even if all its runs exist.
std::vector<Group> all_networks(const Plan& plan) {
  std::vector<Group> groups;
  for (const PlannedRun& run : plan.runs)
    find_or_add_group(emulated_network(run.experiment), groups);
  return groups;
}

/// The command line with which each process of a job makes the runs of a group.
std::vector<std::string> run_command(const EmulatedRuns::Options& options, const Json& world,
                                     const Group& group, bool quiet) {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe"),
                                    "run",
                                    options.config,
                                    "--world",
                                    world.dump(),
                                    "--output",
                                    options.runner.output,
                                    "--no-table"};
  for (const std::string& setting : options.settings) words.insert(words.end(), {"--set", setting});
  for (const std::string& id : group.ids) words.insert(words.end(), {"--only", id});
  if (options.runner.force) words.push_back("--force");
  if (quiet) words.push_back("--quiet");
  return words;
}

}  // namespace

void check_for_namespaces() {
  if (geteuid() != 0)
    throw ConfigError("emulate",
                      "network namespaces need root; start it as root, for example with sudo, or "
                      "use the world threads, which emulates networks without root");
  require_tool("ip", "iproute2");
  require_tool("tc", "iproute2");
  require_tool("unshare", "util-linux");
}

fs::path make_temporary_folder() {
  std::string name = (fs::temp_directory_path() / "trigram-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), name);
  return name;
}

void remove_left_namespaces() {
  if (const int removed = remove_dead_namespaces(); removed > 0)
    spdlog::warn("removed {} network namespaces of killed runs", removed);
}

EmulatedRuns::EmulatedRuns(Options options, bool quiet)
    : options_(std::move(options)), quiet_(quiet) {
  if (in_a_job()) throw ConfigError("emulate", "starts mpirun itself; run it without a launcher");
  plan_ = emulated_plan(emulated_world(true), options_);
  check_for_namespaces();
  require_tool("mpirun", "openmpi-bin");
}

int EmulatedRuns::make() {
  remove_left_namespaces();
  const fs::path folder = make_temporary_folder();
  const Watcher watcher(folder);
  const bool netem = kernel_has_netem();
  const Json world = emulated_world(netem);
  if (!netem) {
    spdlog::info(
        "this kernel has no netem: it emulates the bandwidth, and the ranks add the latency");
    plan_ = emulated_plan(world, options_);
  }
  const SweepRunner runner(*plan_, options_.runner, quiet_);
  const bool runs_experiment = options_.program.empty();
  int code = kOk;
  for (const Group& group : runs_experiment ? missing_runs(*plan_, runner, options_.runner.force)
                                            : all_networks(*plan_)) {
    const KernelNetwork network(group.network);
    const std::vector<std::string> shell = {"sh", "-c", options_.program};
    const int job_code =
        launch_job(group.network, folder, options_.launcher,
                   runs_experiment ? run_command(options_, world, group, quiet_) : shell);
    if (job_code == kInterrupted || job_code == kBadInput) return job_code;
    if (code == kOk) code = job_code;
  }
  return code;
}

}  // namespace trigram
