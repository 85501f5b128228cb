#include "experiments/config/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/optimizers/registry.h"
#include "experiments/config/config_file.h"
#include "experiments/config/machine_match.h"
#include "experiments/config/network_match.h"
#include "experiments/config/settings.h"
#include "experiments/config/sha256.h"
#include "experiments/config/sweep.h"
#include "experiments/config/taking.h"
#include "netmodels/coupled_rounds.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

constexpr std::size_t kIdDigits = 12;

/// A workload that several runs share, and the hash of the files that it was read from.
struct Loaded {
  std::shared_ptr<const WorkloadFactory> factory;
  std::string content;
};

/// Loads each workload once, however many runs of the sweep train it.
class Loader {
 public:
  const Loaded& load(const Json& resolved) {
    auto [entry, is_new] = loaded_.try_emplace(resolved.dump());
    if (is_new) entry->second = read(resolved);
    return entry->second;
  }

 private:
  static Loaded read(const Json& resolved) {
    Loaded loaded{make_workload_factory(resolved, "/workload"), ""};
    for (const auto& file : loaded.factory->input_files()) loaded.content += sha256_of_file(file);
    return loaded;
  }
  std::map<std::string, Loaded> loaded_;
};

/// `taking`: null, or what takes the file to another world.
Json read_and_set(const std::filesystem::path& path, const std::vector<std::string>& settings,
                  Taking* taking) {
  Json config = read_config_file(path);
  if (!config.is_object()) wrong_type("", "an object", config);
  config.erase("$schema");
  inline_files(config, path.parent_path());
  if (taking) taking->file(config);
  // Defaults come first, so that their options can be set.
  for (const auto& [field, name] : {std::pair{"runtime", "sim"}, {"optimizer", "sgd"}})
    if (!config.contains(field)) config[field] = name;
  apply_settings(config, settings, path.parent_path());
  if (taking) taking->file(config);
  if (!config.contains("name")) config["name"] = path.stem().string();
  return config;
}

void check_moment(const Experiment& e, const AlgorithmEntry& algorithm) {
  if (!algorithm.exchanges_moment) return;
  const OptimizerEntry& optimizer =
      find_component(optimizers(), "optimizer", e.optimizer, "/optimizer");
  if (!optimizer.has_moment(e.optimizer))
    throw ConfigError("/optimizer",
                      fmt::format("{} exchanges the optimizer's moment, and {} without momentum "
                                  "has none; expected adam, adamw or sgd with momentum",
                                  algorithm.name, optimizer.name));
  if (optimizer.has_variance && e.algorithm.value("warmup_steps", 1) == 0)
    throw ConfigError("/algorithm/warmup_steps",
                      fmt::format("{} freezes the variance of {} after the warm-up, and it is 0 at "
                                  "first; expected at least 1",
                                  algorithm.name, optimizer.name));
}

/// Worlds without collectives of their own would run something else under that name.
void check_native(const Experiment& e) {
  const auto option = e.algorithm.find("allreduce");
  if (option == e.algorithm.end() || *option != "native" || e.world().native) return;
  std::vector<std::string> having;
  for (const World& world : worlds())
    if (world.native) having.push_back(world.name);
  throw ConfigError("/algorithm/allreduce",
                    fmt::format("the world \"{}\" has no collectives of its own; expected ring, "
                                "recursive_doubling, rabenseifner, double_tree or nccl there, or a "
                                "world that has: {}",
                                e.world().name, fmt::join(having, ", ")));
}

/// A tree has an edge at least.
void check_tree(const Experiment& e) {
  const auto option = e.algorithm.find("allreduce");
  if (option == e.algorithm.end() || *option != "double_tree" || e.cluster.ranks() > 1) return;
  throw ConfigError("/algorithm/allreduce",
                    "\"double_tree\" joins several ranks, and this cluster has one; expected "
                    "another allreduce, such as ring or nccl, or more nodes or workers_per_node");
}

/// A network that is emulated has what the simulated one has, but for what changes with time and
/// for patterns of traffic.
void check_emulated(const Experiment& e) {
  if (!e.emulates()) return;
  const LinkSpec& nics = e.cluster.inter;
  const Transport& transport = e.cluster.transport;
  const auto refuse = [&](const char* pointer, bool given) {
    if (given)
      throw ConfigError(pointer, "is for the simulated world; emulated networks have none of it");
  };
  refuse("/cluster/inter/shaping", nics.shaping.exists());
  refuse("/cluster/inter/profile", !nics.profile.empty());
  refuse("/cluster/inter/background", nics.background.load > 0);
  refuse("/cluster/accelerator/overlap_slowdown", e.cluster.accelerator.overlap_slowdown > 1);
  refuse("/cluster/transport/efficiency", transport.efficiency.matters());
  refuse("/cluster/transport/channels", transport.channels > 1);
}

/// Links that change with time go together neither with SimGrid's model of TCP nor with flows.
void check_changing(const Experiment& e) {
  if (!e.world().simulated) return;
  if (e.runtime.at("fidelity") == "fluid" && !can_couple(e.cluster))
    throw ConfigError(
        "/runtime/fidelity",
        "expected \"message\" or \"auto\" where links have a profile or background, "
        "the accelerator an overlap_slowdown, or the transport slices or the protocol "
        "\"rendezvous\"");
  if (e.runtime.at("network_model") != "tcp") return;
  const LinkSpec& nics = e.cluster.inter;
  if (nics.shaping.exists() || !nics.profile.empty() || nics.background.load > 0)
    throw ConfigError("/runtime/network_model",
                      "expected \"alpha_beta\" where links have shaping, a profile or background");
}

/// Only a simulated clock repeats itself, and what learns is run for what it learns.
void check_steady(const Experiment& e, const WorkloadFactory& workload) {
  if (!e.until_steady) return;
  if (!e.world().simulated)
    throw ConfigError("/until_steady", fmt::format("no two steps of the world \"{}\" take the same "
                                                   "time; expected false, or the world \"sim\"",
                                                   e.world().name));
  if (workload.has_values())
    throw ConfigError("/until_steady",
                      "what trains makes all its steps; expected false, or a profile as workload");
}

/// Only what classifies has an accuracy. On GPUs all ranks issue in one order, and those of
/// asynchronous algorithms come to an evaluation in any. Processes all come to the same step.
void check_target(const Experiment& e, const WorkloadFactory& workload) {
  if (!e.target_accuracy) return;
  if (workload.samples() == 0 || !workload.learns())
    throw ConfigError("/target_accuracy",
                      "what classifies nothing has no accuracy; expected none, or a workload that "
                      "learns from samples, such as fashion_mnist");
  if (e.world().one_order && !e.synchronous())
    throw ConfigError("/target_accuracy",
                      fmt::format("in the world \"{}\" it is for synchronous algorithms; expected "
                                  "none, or another world or algorithm",
                                  e.world().name));
  if (e.world().processes && e.algorithm_entry().waits_across_steps)
    throw ConfigError(
        "/target_accuracy",
        fmt::format("in the world \"{}\" all workers come together at evaluations, and "
                    "those of {} may wait for each other's later steps; expected none, "
                    "or another world or algorithm",
                    e.world().name, e.algorithm_entry().name));
}

/// What keeps the world from being where the run is to be made.
std::string absence(const World& world, bool here) {
  return here || !world.processes ? world.unavailable : mpi_absent_reason();
}

void check_feasible(const Experiment& e, const WorkloadFactory& workload, bool here) {
  const World& world = e.world();
  if (const std::string why = absence(world, here); !why.empty())
    throw ConfigError("/runtime",
                      fmt::format("the world \"{}\" is not available: {}", world.name, why));
  const AlgorithmEntry& entry = e.algorithm_entry();
  entry.check(e.algorithm, e.cluster.layout(), "/algorithm");
  workload.check_ranks(entry.workers(e.algorithm, e.cluster.layout()).count());
  check_moment(e, entry);
  check_native(e);
  check_tree(e);
  check_emulated(e);
  check_changing(e);
  check_steady(e, workload);
  check_target(e, workload);
  if (!workload.has_values() && entry.make(e.algorithm)->needs_values())
    throw ConfigError("/workload",
                      fmt::format("\"{}\" decides by the values of tensors; expected a workload "
                                  "with values, such as fashion_mnist",
                                  entry.name));
}

/// Neither what a run is called nor what it is said to be for decides its results.
std::string run_id(Json resolved, const std::string& content) {
  resolved.erase("name");
  resolved.erase("description");
  return Sha256().update(resolved.dump()).update(content).hex().substr(0, kIdDigits);
}

PlannedRun plan_run(const SweepPoint& point, const std::filesystem::path& base, Loader& loader) {
  PlannedRun run;
  const auto fields = experiment_fields(base);
  run.experiment = fields.parse(point.config, "");
  bind_accelerator(run.experiment.workload, run.experiment.cluster.accelerator);
  run.resolved = fields.dump(run.experiment);
  run.coordinates = point.coordinates;
  const Loaded& loaded = loader.load(run.experiment.workload);
  run.workload = loaded.factory;
  run.warnings = machine_warnings(run.experiment, *run.workload);
  if (std::string unfelt = network_warning(run.experiment, run.coordinates); !unfelt.empty())
    run.warnings.push_back(std::move(unfelt));
  run.id = run_id(run.resolved, loaded.content);
  return run;
}

/// One folder cannot hold two runs.
void check_distinct(const std::vector<PlannedRun>& runs) {
  std::map<std::string, const PlannedRun*> seen;
  for (const PlannedRun& run : runs)
    if (auto [first, is_new] = seen.try_emplace(run.id, &run); !is_new)
      throw ConfigError("/sweep",
                        fmt::format("{} and {} are the same experiment",
                                    first->second->coordinates.dump(), run.coordinates.dump()));
}

/// `unfit`: where runs go that are, or null, so that they are errors.
Plan plan_runs(const std::filesystem::path& config, const std::vector<std::string>& settings,
               const Place& place, std::vector<UnfitRun>* unfit, const WantedRuns& wanted = {}) {
  const std::filesystem::path base = config.parent_path();
  std::optional<Taking> taking;
  if (!place.world.is_null()) taking.emplace(place.world, "--world");
  auto points = expand_sweep(read_and_set(config, settings, taking ? &*taking : nullptr), base);
  if (taking) taking->points(points);
  if (wanted) std::erase_if(points, [&](const SweepPoint& p) { return !wanted(p.coordinates); });
  Plan plan;
  Loader loader;
  for (const SweepPoint& point : points) {
    PlannedRun run = plan_run(point, base, loader);
    try {
      check_feasible(run.experiment, *run.workload, place.here);
      plan.runs.push_back(std::move(run));
    } catch (const ConfigError& error) {
      if (!unfit) throw;
      unfit->push_back({run.coordinates, error});
    }
  }
  if (plan.runs.empty()) throw unfit->front().why;
  plan.name = plan.runs.front().experiment.name;
  for (const PlannedRun& run : plan.runs)
    if (run.experiment.name != plan.name)
      throw ConfigError("/name", "cannot be swept; expected one name for all runs");
  check_distinct(plan.runs);
  return plan;
}

}  // namespace

Plan make_plan(const std::filesystem::path& config, const std::vector<std::string>& settings,
               const Place& place) {
  return plan_runs(config, settings, place, nullptr);
}

Plan plan_fit_runs(const std::filesystem::path& config, const std::vector<std::string>& settings,
                   std::vector<UnfitRun>& unfit, const WantedRuns& wanted) {
  return plan_runs(config, settings, {}, &unfit, wanted);
}

void keep_only(Plan& plan, const std::vector<std::string>& ids) {
  std::vector<std::string> known;
  for (const PlannedRun& run : plan.runs) known.push_back(run.id);
  for (const std::string& id : ids)
    if (std::find(known.begin(), known.end(), id) == known.end())
      unknown_name("--only", "run", id, known);
  std::erase_if(plan.runs, [&ids](const PlannedRun& run) {
    return std::find(ids.begin(), ids.end(), run.id) == ids.end();
  });
}

}  // namespace trigram
