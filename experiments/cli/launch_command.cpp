// `launch`: supervises a training job whose processes may fail, and whose nodes may change.
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "core/files.h"
#include "core/printable.h"
#include "experiments/checkpoint/checkpoint_folder.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/config/settings.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"
#include "experiments/launch/nodes.h"
#include "experiments/launch/supervisor.h"
#include "experiments/results/run_folder.h"
#include "experiments/sweep/sweep_runner.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

struct LaunchOptions {
  std::string config;
  std::vector<std::string> settings;
  std::optional<std::string> nodes;  // empty: as many as the cluster has
  fs::path hosts;
  std::string discover;
  std::string launcher;
  SweepRunner::Options runner;
  Supervisor::Options supervisor;
};

constexpr const char* kWithoutFailures = "/cluster/failures=[]";

/// Plans a job of one run. A file for the simulated world is planned for mpi.
Plan plan_with(const LaunchOptions& options, std::vector<std::string> settings) {
  settings.insert(settings.begin(), options.settings.begin(), options.settings.end());
  PlanTarget target{.world = {}, .in_this_process = false, .supervised = true};
  Plan plan = make_plan(options.config, settings, target);
  if (plan.runs.front().experiment.world().simulated) {
    target.world = "mpi";
    plan = make_plan(options.config, settings, target);
  }
  if (plan.runs.size() != 1)
    throw ConfigError("launch", fmt::format("expected an experiment of one run, not of {}; trigram "
                                            "run makes sweeps",
                                            plan.runs.size()));
  return plan;
}

/// The plan of the run that a generation on `nodes` nodes makes. The supervisor causes the
/// failures.
Plan plan_on(const LaunchOptions& options, int nodes) {
  return plan_with(options, {fmt::format("/cluster/nodes={}", nodes), kWithoutFailures});
}

/// Asks `source` for the nodes. The first answer must be right; if a later one is wrong, the nodes
/// stay as they were.
std::function<NodeList()> lasting(std::function<NodeList()> source) {
  NodeList first = source();
  return [source = std::move(source), last = std::move(first)]() mutable {
    try {
      last = source();
    } catch (const std::exception& error) {
      spdlog::warn("{}; the nodes stay as they were", error.what());
    }
    return last;
  };
}

/// Where the nodes come from, which is asked again once a second.
std::function<NodeList()> node_source(const LaunchOptions& options, int most) {
  if (!options.hosts.empty()) return lasting([file = options.hosts] { return read_nodes(file); });
  if (!options.discover.empty())
    return lasting([command = options.discover] { return discovered_nodes(command); });
  if (NodeList slurm = slurm_nodes(); !slurm.empty()) return [slurm] { return slurm; };
  return [most] { return NodeList(static_cast<std::size_t>(most), "localhost"); };
}

/// The fewest and the most nodes that a job has whose nodes leave and join as described.
NodeRange described_range(const Experiment& e, const LaunchOptions& options) {
  const std::vector<std::int64_t> counts = node_counts(e.cluster.failures, e.cluster.nodes);
  const bool elsewhere =
      !options.hosts.empty() || !options.discover.empty() || !slurm_nodes().empty();
  if (counts.size() > 1 && elsewhere)
    throw ConfigError(
        "/cluster/failures",
        "only nodes of this machine leave and join as described; expected no such "
        "events with --hosts, --discover or Slurm, which say themselves what is there");
  const auto [least, most] = std::ranges::minmax(counts);
  return {static_cast<int>(least), static_cast<int>(most)};
}

std::string default_launcher(const World& world) {
  if (!world.processes) return "";
  return slurm_nodes().empty() ? "mpirun --host {hosts} -n {ranks}"
                               : "srun --nodelist={names} --nodes={nodes} --ntasks={ranks}";
}

/// The checkpoints of a job. For every number of nodes, the job is another run, whose checkpoints
/// have a folder of their own.
class JobCheckpoints {
 public:
  JobCheckpoints(const LaunchOptions& options, fs::path folder)
      : options_(options), folder_(std::move(folder)), planned_(options.supervisor.nodes.least) {}
  struct Newest {
    int nodes = 0;  // 0: there is no checkpoint
    long steps = 0;
  };
  Newest newest() {
    Newest newest;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() != kExtension) continue;
      const std::vector<long> steps = CheckpointFolder(entry.path()).steps();
      if (steps.empty() || steps.front() <= newest.steps) continue;
      if (const int nodes = nodes_of(entry.path().stem())) newest = {nodes, steps.front()};
    }
    return newest;
  }
  fs::path folder_of(int nodes) { return folder_ / (id_of(nodes) + kExtension); }

 private:
  static constexpr const char* kExtension = ".checkpoints";

  const std::string& id_of(int nodes) {
    std::string& id = ids_[nodes];
    if (id.empty()) id = plan_on(options_, nodes).runs.front().id;
    return id;
  }
  /// The number of nodes of a run; 0 if it is none of this job. Plans only as many runs as needed,
  /// because this takes milliseconds each.
  int nodes_of(const std::string& id) {
    for (const auto& [nodes, own] : ids_)
      if (own == id) return nodes;
    for (; planned_ <= options_.supervisor.nodes.most; ++planned_)
      if (id_of(planned_) == id) return planned_;
    return 0;
  }

  const LaunchOptions& options_;
  const fs::path folder_;
  std::map<int, std::string> ids_;  // of runs, by number of nodes
  int planned_;                     // all runs on fewer nodes have been planned
};

/// The error with which the only run of a plan has failed since `since`; empty if it has not.
std::string error_of_run(const Plan& plan, const SweepRunner::Options& options,
                         fs::file_time_type since) {
  const PlannedRun& run = plan.runs.front();
  const StoredRun stored = SweepRunner(plan, options, true).stored(run);
  const fs::path manifest = options.output / plan.name / run.id / "manifest.json";
  if (stored.state != StoredRun::failed || fs::last_write_time(manifest) < since) return "";
  return stored.manifest.at("error");
}

/// Holds a lock while it exists, so that no other supervisor makes the same job.
class JobLock {
 public:
  explicit JobLock(const fs::path& file)
      : file_(open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666)) {
    if (file_.get() < 0 || flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
      throw ConfigError("launch", fmt::format("another trigram launch makes this job; {} is locked",
                                              printable(file.string())));
  }

 private:
  FileDescriptor file_;
};

/// The command line with which each process of a generation trains.
std::vector<std::string> run_command(const LaunchOptions& options, const Json& world, int nodes,
                                     JobCheckpoints& checkpoints) {
  std::vector<std::string> words = {"run",      options.config,        "--world",    world.dump(),
                                    "--output", options.runner.output, "--no-table", "--quiet"};
  for (const std::string& setting : options.settings) words.insert(words.end(), {"--set", setting});
  words.insert(words.end(),
               {"--set", fmt::format("/cluster/nodes={}", nodes), "--set", kWithoutFailures});
  const auto newest = checkpoints.newest();
  if (newest.nodes == 0 || newest.nodes == nodes) words.emplace_back("--resume");
  else words.insert(words.end(), {"--force", "--resume-from", checkpoints.folder_of(newest.nodes)});
  return words;
}

int launch(LaunchOptions options, bool quiet) {
  if (in_a_job()) throw ConfigError("launch", "starts the job itself; run it without a launcher");
  std::vector<std::string> settings;
  if (options.nodes)
    settings.push_back(fmt::format("/cluster/nodes={}", parse_node_range(*options.nodes).most));
  const Plan described = plan_with(options, settings);
  const Experiment& e = described.runs.front().experiment;
  if (!e.checkpoint)
    throw ConfigError("/checkpoint",
                      "trigram launch continues a job from its checkpoints; expected {\"every\": "
                      "...}, in steps");
  const auto fixed = static_cast<int>(e.cluster.nodes);
  Supervisor::Options& supervised = options.supervisor;
  const NodeRange described_nodes = described_range(e, options);
  supervised.nodes = options.nodes ? parse_node_range(*options.nodes) : described_nodes;
  supervised.workers_per_node = static_cast<int>(e.cluster.workers_per_node);
  supervised.launcher = options.launcher.empty() ? default_launcher(e.world()) : options.launcher;
  supervised.processes = e.world().processes;
  supervised.failures = e.cluster.failures;
  check_launcher(supervised.launcher);
  const fs::path folder = options.runner.output / described.name;
  check_writable(folder);
  supervised.record = folder / "launch.json";
  const JobLock lock(folder / "launch.lock");
  plan_on(options, supervised.nodes.least);  // reports mistakes before anything begins
  JobCheckpoints checkpoints(options, folder);
  const auto since = fs::file_time_type::clock::now();
  Supervisor supervisor(
      supervised,
      {.arguments = [&](int nodes) { return run_command(options, e.runtime, nodes, checkpoints); },
       .nodes = node_source(options, options.nodes ? supervised.nodes.most : fixed),
       .checkpoint_steps = [&] { return checkpoints.newest().steps; },
       .error =
           [&](int nodes) {
             return error_of_run(plan_on(options, nodes), options.runner, since);
           }});
  const int code = supervisor.run();
  remove_leftovers(folder);  // of processes that were killed
  fmt::print("{}\n", supervisor.table());
  if (code != kOk) return code;
  const Plan last = plan_on(options, supervisor.last_nodes());
  SweepRunner(last, options.runner, quiet).print_results();
  return code;
}

}  // namespace

void add_launch_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<LaunchOptions>();
  CLI::App* command = app.add_subcommand(
      "launch", "Train in processes that may fail, on nodes that may come and go");
  command->add_option("config", options->config, "The experiment, with \"checkpoint\"")->required();
  add_output_option(*command, options->runner);
  add_set_option(*command, options->settings);
  command->add_option("--nodes", options->nodes,
                      "MIN:MAX: how many nodes to use; by default as many as the cluster has");
  auto* hosts = command->add_option("--hosts", options->hosts,
                                    "A file with one host per node and line; it may change while "
                                    "the job runs. By default the nodes of the Slurm job, or "
                                    "processes of this machine");
  command
      ->add_option("--discover", options->discover,
                   "A shell command that prints these lines; it is run once a second")
      ->excludes(hosts);
  command->add_option("--launcher", options->launcher,
                      "The shell command that starts processes, in which {ranks}, {nodes}, {hosts} "
                      "(a:4,b:4) and {names} (a,b) are replaced");
  command
      ->add_option("--max-restarts", options->supervisor.max_restarts,
                   "How many times a job that failed starts again")
      ->check(CLI::Range(0, 1000000));
  command
      ->add_option("--node-wait", options->supervisor.node_wait_s,
                   "Seconds to wait for MIN nodes before giving up")
      ->check(finite_between(0, 1e9));
  command->callback([options, &global, &action] {
    action = [options, &global] { return launch(*options, global.quiet); };
  });
}

}  // namespace trigram
