// `compare-worlds`: runs one experiment in several worlds and compares the results.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/cli/ddp_runs.h"
#include "experiments/cli/emulated_runs.h"
#include "experiments/cli/world_comparison.h"
#include "experiments/config/settings.h"
#include "experiments/config/world_override.h"
#include "experiments/exit_codes.h"
#include "experiments/sweep/sweep_runner.h"
#include "experiments/text/print_error.h"
#include "experiments/version.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

struct CompareWorldsOptions {
  std::string config;
  std::vector<std::string> settings;
  std::vector<std::string> worlds;
  std::optional<fs::path> against;
  std::string model;  // FILE.py:FUNCTION, for ddp
  SweepRunner::Options runner;
};

/// The worlds to run in. The first one makes the prediction.
std::vector<std::string> worlds_of(const CompareWorldsOptions& options) {
  std::vector<std::string> names = options.worlds;
  if (names.empty())
    names = options.against ? std::vector<std::string>{"sim"}
                            : std::vector<std::string>{"sim", "threads"};
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name != kDdp) find_component(worlds(), "world", Json(name), "--worlds");
    if (!seen.insert(name).second)
      throw ConfigError(
          "--worlds",
          fmt::format("{} is given twice; expected different worlds, as in sim,threads", name));
  }
  if (names.size() == 1 && !options.against)
    throw ConfigError("--worlds", fmt::format("expected a second world to compare {0} with, as in "
                                              "{0},threads, or its results with --against",
                                              names[0]));
  if (names[0] == kDdp)
    throw ConfigError("--worlds",
                      "ddp cannot predict; expected it after the first world, as in "
                      "sim,ddp");
  if (!options.model.empty() && !seen.contains(kDdp))
    throw ConfigError("--model", "expected ddp among --worlds; other worlds take the workload");
  return names;
}

/// The world with the options that apply unless the file sets them: the world `threads` emulates
/// the cluster's network.
Json world_with_defaults(const std::string& name) {
  if (name == "threads") return {{"name", name}, {"shaping", "cluster"}};
  return {{"name", name}};
}

/// The settings for one world. It leaves out options of the world that exist only in other worlds
/// of the comparison.
std::vector<std::string> settings_in(const std::string& world, const std::vector<std::string>& all,
                                     const CompareWorldsOptions& options) {
  std::vector<std::string> settings;
  for (const std::string& text : options.settings) {
    const std::string pointer = parse_setting(text).pointer;
    const auto has = [&](const std::string& name) {
      return name != kDdp && has_option(name, pointer);
    };
    if (!pointer.starts_with("/runtime/") || has(world) || std::ranges::none_of(all, has))
      settings.push_back(text);
  }
  return settings;
}

/// The experiment in one of the worlds.
class WorldRuns {
 public:
  /// Checks everything that can be checked before the runs. `all` are the worlds of the comparison.
  WorldRuns(const std::string& world, const std::vector<std::string>& all,
            const CompareWorldsOptions& options, bool quiet)
      : options_(options.runner), quiet_(quiet) {
    const auto settings = settings_in(world, all, options);
    if (world == kDdp) {
      ddp_ = std::make_unique<DdpRuns>(
          DdpRuns::Options{options.config, settings, options.model, options_}, quiet);
      return;
    }
    if (world == "mpi") {
      emulated_ = std::make_unique<EmulatedRuns>(
          EmulatedRuns::Options{options.config, settings, {}, options_}, quiet);
      return;
    }
    if (find_component(worlds(), "world", Json(world), "--worlds").processes)
      throw ConfigError("--worlds",
                        fmt::format("{} is a world of processes, which a launcher starts; give the "
                                    "folder of its results with --against",
                                    world));
    plan_ = make_plan(options.config, settings, {.world = world_with_defaults(world)});
  }

  /// Makes the missing runs. Returns an exit code.
  int make() {
    if (ddp_) return ddp_->make();
    return emulated_ ? emulated_->make() : SweepRunner(plan(), options_, quiet_).run();
  }

  const Plan& plan() const {
    if (ddp_) return ddp_->plan();
    return emulated_ ? emulated_->plan() : plan_;
  }

  /// The manifests of the finished runs.
  std::vector<Json> results() const {
    if (ddp_) return ddp_->results();
    const SweepRunner runner(plan(), options_, quiet_);
    std::vector<Json> manifests;
    for (const PlannedRun& run : plan().runs)
      if (const StoredRun stored = runner.stored(run); stored.state == StoredRun::done)
        manifests.push_back(stored.manifest);
    return manifests;
  }

 private:
  const SweepRunner::Options options_;
  const bool quiet_;
  Plan plan_;
  std::unique_ptr<EmulatedRuns> emulated_;
  std::unique_ptr<DdpRuns> ddp_;
};

/// The manifests of finished runs, by world.
using ManifestsByWorld = std::map<std::string, std::vector<Json>>;

/// The finished runs, at or below a folder, of the plan's experiments in worlds other than
/// `predicting`.
ManifestsByWorld results_below(const fs::path& root, const Plan& plan,
                               const std::string& predicting) {
  if (std::error_code ignored; !fs::is_directory(root, ignored))
    throw ConfigError("--against", fmt::format("expected a folder of results, not \"{}\"",
                                               shortened(root.string())));
  std::set<std::string> wanted;
  for (const PlannedRun& run : plan.runs)
    wanted.insert(experiment_key({{"experiment", run.resolved}}));
  ManifestsByWorld found;
  std::map<std::string, fs::path> first;
  for (const fs::path& folder : run_folders(root)) {
    const StoredRun stored = read_stored_run(folder, version().git);
    if (stored.state != StoredRun::done && stored.state != StoredRun::stale) continue;
    const std::string key = experiment_key(stored.manifest);
    const Json& runtime = stored.manifest["experiment"]["runtime"];
    if (stored.manifest["world"] == predicting || !wanted.contains(key)) continue;
    const auto [same, is_new] = first.try_emplace(key + runtime.dump(), folder);
    if (!is_new)
      throw ConfigError(
          "--against",
          fmt::format(
              "{} and {} are results of the same run; expected a folder with only one of them",
              same->second.string(), folder.string()));
    found[stored.manifest["world"]].push_back(stored.manifest);
  }
  if (found.empty())
    throw ConfigError("--against",
                      fmt::format("{} has no results of this experiment in a world other than {}",
                                  root.string(), predicting));
  return found;
}

/// Compares results in the worlds `predicting` and `measuring`.
void print_comparison(const Plan& plan, const std::string& predicting, const std::string& measuring,
                      const std::vector<Json>& predicted, const std::vector<Json>& measured) {
  const auto pairs = pair_up(predicted, measured);
  fmt::print("{}", world_comparison(pairs));
  std::set<Json> paired;
  for (const WorldPair& pair : pairs) paired.insert(pair.predicted["experiment"]);
  if (paired.size() < plan.runs.size())
    print_error(fmt::format("{} of {} runs are missing in {} or {}",
                            plan.runs.size() - paired.size(), plan.runs.size(), predicting,
                            measuring));
}

int compare(const CompareWorldsOptions& options, bool quiet) {
  const std::vector<std::string> names = worlds_of(options);
  std::vector<std::unique_ptr<WorldRuns>> runs;
  for (const std::string& name : names)
    runs.push_back(std::make_unique<WorldRuns>(name, names, options, quiet));
  ManifestsByWorld existing;
  if (options.against) existing = results_below(*options.against, runs[0]->plan(), names[0]);
  int code = kOk;
  for (const auto& in_world : runs) {
    const int world_code = in_world->make();
    if (world_code == kInterrupted || world_code == kBadInput) return world_code;
    code = std::max(code, world_code);
  }
  const std::vector<Json> predicted = runs[0]->results();
  const auto print = [&](const std::string& world, const std::vector<Json>& results) {
    print_comparison(runs[0]->plan(), names[0], world, predicted, results);
  };
  for (std::size_t i = 1; i < names.size(); ++i) print(names[i], runs[i]->results());
  for (const auto& [world, results] : existing) print(world, results);
  return code;
}

}  // namespace

void add_compare_worlds_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<CompareWorldsOptions>();
  CLI::App* command = app.add_subcommand(
      "compare-worlds",
      "Run an experiment in several worlds: one world predicts, the others measure");
  command->add_option("config", options->config, "The experiment")->required();
  command
      ->add_option("--worlds", options->worlds,
                   "The world that predicts, then the worlds that measure; default: sim,threads; "
                   "mpi runs on a network of the kernel, as with trigram emulate, and so does ddp, "
                   "PyTorch's DistributedDataParallel over gloo")
      ->delimiter(',');
  command->add_option_function<std::string>(
      "--against", [options](const std::string& folder) { options->against = folder; },
      "Folder with results of the same experiment in other worlds, such as results of an mpirun");
  command->add_option("--model", options->model,
                      "What ddp trains: a function, FILE.py:FUNCTION, that returns the model, a "
                      "batch and perhaps a loss");
  add_output_option(*command, options->runner);
  add_jobs_option(*command, options->runner);
  add_set_option(*command, options->settings);
  command->add_flag("-f,--force", options->runner.force, "Repeat finished runs, too");
  command->callback([options, &global, &action] {
    action = [options, &global] { return compare(*options, global.quiet); };
  });
}

}  // namespace trigram
