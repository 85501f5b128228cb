// `compare-worlds`: one experiment in several worlds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "core/config/config_error.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/sweep_runner.h"
#include "experiments/cli/world_comparison.h"
#include "experiments/exit_codes.h"
#include "experiments/version.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string config;
  std::vector<std::string> settings;
  std::vector<std::string> worlds;
  fs::path against;
  SweepRunner::Options runner;
};

/// Manifests of finished runs, by what they are runs of.
using Results = std::map<std::string, Json>;

/// The worlds to run in: the first predicts.
std::vector<std::string> worlds_of(const Options& options) {
  if (!options.worlds.empty()) return options.worlds;
  if (!options.against.empty()) return {"sim"};
  return {"sim", "threads"};
}

/// The configured world keeps its options; threads are on the cluster's network otherwise.
Json runtime_of(const std::string& world, const Json& configured) {
  const World& found = find_component(worlds(), "world", Json(world), "--worlds");
  if (found.processes)
    throw ConfigError("--worlds",
                      fmt::format("{} is a world of processes, which a launcher starts; expected "
                                  "the folder of its results by --against",
                                  world));
  if (configured.at("name") == world) return configured;
  if (world == "threads") return {{"name", world}, {"shaping", "cluster"}};
  return world;
}

Plan plan_in(const std::string& world, const Options& options) {
  const Plan configured = make_plan(options.config, options.settings);
  std::vector<std::string> settings = options.settings;
  settings.push_back("/runtime=" +
                     runtime_of(world, configured.runs.front().experiment.runtime).dump());
  return make_plan(options.config, settings);
}

/// Makes the runs that are missing, and returns all that are there.
Results results_in(const Plan& plan, const Options& options, bool quiet, int& code) {
  SweepRunner runner(plan, options.runner, quiet);
  code = std::max(code, runner.run());
  Results results;
  for (const PlannedRun& run : plan.runs)
    if (const StoredRun stored = runner.stored(run); stored.state == StoredRun::done)
      results[experiment_key(stored.manifest)] = stored.manifest;
  return results;
}

/// Finished runs at or below a folder, by world.
std::map<std::string, Results> results_below(const fs::path& root) {
  if (!fs::is_directory(root))
    throw ConfigError("--against",
                      fmt::format("expected a folder of results, not {}", root.string()));
  std::map<std::string, Results> found;
  for (const fs::path& folder : run_folders(root)) {
    const StoredRun stored = read_stored_run(folder, version().git);
    if (stored.state == StoredRun::done || stored.state == StoredRun::stale)
      found[stored.manifest["world"]][experiment_key(stored.manifest)] = stored.manifest;
  }
  return found;
}

/// `order`: the runs, as the plan has them.
std::vector<WorldPair> pair_up(const std::vector<std::string>& order, const Results& predicted,
                               const Results& measured) {
  std::vector<WorldPair> pairs;
  for (const std::string& key : order)
    if (predicted.contains(key) && measured.contains(key))
      pairs.push_back({predicted.at(key), measured.at(key)});
  return pairs;
}

int compare(const Options& options, bool quiet) {
  const std::vector<std::string> names = worlds_of(options);
  std::vector<Plan> plans;
  for (const std::string& name : names) plans.push_back(plan_in(name, options));
  std::map<std::string, Results> measured;
  if (!options.against.empty()) measured = results_below(options.against);
  int code = kOk;
  const Results predicted = results_in(plans[0], options, quiet, code);
  for (std::size_t i = 1; i < plans.size() && code != kInterrupted; ++i)
    measured[names[i]] = results_in(plans[i], options, quiet, code);
  if (code == kInterrupted) return code;
  measured.erase(names[0]);
  std::vector<std::string> order;
  for (const PlannedRun& run : plans[0].runs)
    order.push_back(experiment_key({{"experiment", run.resolved}}));
  for (const auto& [world, results] : measured) {
    const auto pairs = pair_up(order, predicted, results);
    fmt::print("{}", world_comparison(pairs));
    if (pairs.size() < order.size())
      fmt::print(stderr, "trigram: {} of {} runs are not there in both {} and {}\n",
                 order.size() - pairs.size(), order.size(), names[0], world);
  }
  return code;
}

}  // namespace

void add_compare_worlds_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare-worlds", "Run an experiment in several worlds: what one predicts, others measure");
  command->add_option("config", options->config, "The experiment")->required();
  command
      ->add_option("--worlds", options->worlds,
                   "The one that predicts, then those that measure; sim,threads by default")
      ->delimiter(',');
  command->add_option("--against", options->against,
                      "Results of the same experiment in other worlds, such as those of an mpirun");
  command->add_option("-o,--output", options->runner.output, "Folder for results")
      ->capture_default_str();
  command->add_option("-j,--jobs", options->runner.jobs, "Simulations at a time; 0: one per core")
      ->check(CLI::Range(0, 4096));
  command->add_option("--set", options->settings, "/json/pointer=value, in place of the file's")
      ->allow_extra_args(false);
  command->add_flag("-f,--force", options->runner.force, "Make finished runs again too");
  command->callback([options, &global, &action] {
    action = [options, &global] { return compare(*options, global.quiet); };
  });
}

}  // namespace trigram
