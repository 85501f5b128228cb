#include "experiments/config/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "experiments/config/config_file.h"
#include "experiments/config/feasibility.h"
#include "experiments/config/idle_options.h"
#include "experiments/config/inputs.h"
#include "experiments/config/machine_match.h"
#include "experiments/config/real_time_match.h"
#include "experiments/config/settings.h"
#include "experiments/config/sweep.h"
#include "experiments/config/tune_options.h"
#include "experiments/config/world_override.h"
#include "experiments/sha256.h"
#include "netmodels/part_of_cluster.h"

namespace trigram {
namespace {

constexpr std::size_t kIdDigits = 12;

/// A workload that several runs share, with the hashes of its input files: concatenated (`content`)
/// and by path (`inputs`).
struct LoadedWorkload {
  std::shared_ptr<const WorkloadFactory> factory;
  std::string content;
  Json inputs;
};

/// Loads each workload once, however many runs of the sweep use it.
class Loader {
 public:
  const LoadedWorkload& load(const Json& resolved) {
    const std::string key = resolved.dump();
    const auto known = loaded_.find(key);
    return known != loaded_.end() ? known->second
                                  : loaded_.emplace(key, read(resolved)).first->second;
  }

 private:
  static LoadedWorkload read(const Json& resolved) {
    LoadedWorkload loaded{make_workload_factory(resolved, "/workload"), "", {}};
    const std::vector<InputFile> inputs = hash_inputs(*loaded.factory);
    for (const InputFile& input : inputs) loaded.content += input.sha256;
    loaded.inputs = to_json(inputs);
    return loaded;
  }
  std::map<std::string, LoadedWorkload> loaded_;
};

/// Reads a file and applies settings. `world_override` replaces the world of the file; null keeps
/// it.
Json read_and_set(const std::filesystem::path& path, const std::vector<std::string>& settings,
                  WorldOverride* world_override) {
  Json config = read_config_file(path);
  if (!config.is_object()) wrong_type("", "an object", config);
  config.erase("$schema");
  inline_files(config, path.parent_path());
  if (world_override) world_override->retarget_file(config);
  // Defaults are inserted before the settings are applied, so that settings can change options of
  // the defaults.
  for (const auto& [field, name] : {std::pair{"runtime", "sim"}, {"optimizer", "sgd"}})
    if (!config.contains(field) && !every_job_gives(config, field)) config[field] = name;
  apply_settings(config, settings, path.parent_path());
  if (world_override) world_override->retarget_file(config);
  if (config.contains("tune")) tune_options().parse(config["tune"], "/tune");
  config.erase("tune");  // `trigram tune` reads it; the runs are those of the rest of the file
  if (!config.contains("name")) config["name"] = path.stem().string();
  return config;
}

/// The name and the description of a run do not affect its results, so they are not part of its id.
std::string run_id(Json resolved, const std::string& content) {
  resolved.erase("name");
  resolved.erase("description");
  return Sha256().update(resolved.dump()).update(content).hex().substr(0, kIdDigits);
}

/// Turns points into runs. It keeps a single table of fields, because the table holds all schemas
/// and is costly.
class Planner {
 public:
  Planner(const std::filesystem::path& base, const PlanTarget& target)
      : fields_(experiment_fields(base)),
        in_this_process_(target.in_this_process),
        supervised_(target.supervised) {}

  /// Makes all checks of a run, except that it is feasible (see `check`).
  PlannedRun plan(SweepPoint& point) {
    PlannedRun run;
    const LoadedWorkload& loaded = load(point, run.experiment);
    run.resolved = fields_.dump(run.experiment);
    run.coordinates = point.coordinates;
    run.workload = loaded.factory;
    run.inputs = loaded.inputs;
    std::string content = loaded.content;
    if (point.job >= 0) add_other_jobs(point, run, content);
    run.warnings = machine_warnings(run.experiment, *run.workload);
    std::ranges::move(real_time_warnings(run.experiment, *run.workload, run.coordinates),
                      std::back_inserter(run.warnings));
    run.assumed = run.workload->assumed();
    for (const std::string& sentence : {assumed_accelerator(run.experiment, *run.workload),
                                        assumed_variant(run.experiment, *run.workload)})
      if (!sentence.empty()) run.assumed.push_back(sentence);
    run.id = run_id(run.resolved, content);
    return run;
  }
  void check(const PlannedRun& run) const {
    check_feasible(run.experiment, *run.workload, in_this_process_, supervised_);
  }
  const FieldTable<Experiment>& fields() const { return fields_; }
  const IdleOptions& idle() const { return idle_; }

 private:
  /// Parses a point, and loads its workload.
  const LoadedWorkload& load(SweepPoint& point, Experiment& e) {
    try {
      e = idle_.parse(fields_, point);
      bind_accelerator(e.workload, e.cluster.accelerator);
      return loader_.load(e.workload);
    } catch (const ConfigError& error) {
      throw in_job(error, point);
    }
  }
  void add_other_jobs(const SweepPoint& point, PlannedRun& run, std::string& content) {
    std::vector<Json> resolved;  // of all jobs
    for (SweepPoint& other : other_jobs(point)) {
      JobBeside& beside = run.others.emplace_back();
      const LoadedWorkload& loaded = load(other, beside.experiment);
      beside.workload = loaded.factory;
      resolved.push_back(fields_.dump(beside.experiment));
      Cluster& part = beside.experiment.cluster;
      part = part_of(run.experiment.cluster.whole, part.whole_nodes);
      try {
        check_feasible(beside.experiment, *beside.workload, in_this_process_, supervised_);
      } catch (const ConfigError& error) {
        throw in_job(error, other);
      }
      content += loaded.content;
      run.inputs.update(loaded.inputs);
    }
    resolved.insert(resolved.begin() + point.job, run.resolved);
    complete_jobs(run.resolved, resolved);
  }

  const FieldTable<Experiment> fields_;
  const bool in_this_process_, supervised_;
  IdleOptions idle_;
  Loader loader_;
};

/// Checks the values of the file that the sweep replaces. They are never used, so they may be
/// incomplete and need not be compatible with other values, but a wrong value is still a mistake.
void check_overwritten(const FieldTable<Experiment>& fields, Json config,
                       const std::vector<SweepPoint>& points) {
  for (const char* swept : {"sweep", "zip"}) config.erase(swept);
  if (config.value("seed", Json()).is_array()) config.erase("seed");
  Mistakes mistakes;
  if (mistakes.passes([&] { fields.parse(config, ""); })) return;
  std::set<std::string> swept;
  for (const SweepPoint& point : points)
    for (const auto& [pointer, value] : point.coordinates.items()) swept.insert(pointer);
  mistakes.keep([&swept](const Mistake& mistake) {
    return mistake.kind == Mistake::Kind::wrong &&
           std::ranges::any_of(swept, [&mistake](const std::string& pointer) {
             return (mistake.pointer + "/").starts_with(pointer + "/");
           });
  });
  mistakes.raise();
}

/// Two runs cannot share a folder. If a run repeats an earlier one, moves it to `unfit`, or throws
/// if `unfit` is null.
void check_distinct(std::vector<PlannedRun>& runs, std::vector<UnfitRun>* unfit) {
  std::map<std::string, Json> seen;
  std::vector<PlannedRun> distinct;
  for (PlannedRun& run : runs) {
    const auto [first, is_new] = seen.try_emplace(run.id, run.coordinates);
    if (is_new) {
      distinct.push_back(std::move(run));
      continue;
    }
    const ConfigError error("/sweep", fmt::format("{} and {} are the same experiment",
                                                  quoted(first->second), quoted(run.coordinates)));
    if (!unfit) throw error;
    unfit->push_back({run.coordinates, error});
  }
  runs = std::move(distinct);
}

/// Adapts the points, and removes the points that are not wanted.
void keep_wanted(std::vector<SweepPoint>& points, const WantedRuns& wanted) {
  std::vector<SweepPoint> kept;
  for (SweepPoint& point : points)
    if (wanted(point)) kept.push_back(std::move(point));
  points = std::move(kept);
}

/// Planning stops after this many mistakes, which is about as many as a user corrects at a time.
constexpr std::size_t kMostMistakes = 20;

/// Appends runs that do not fit to `unfit`, or throws if `unfit` is null.
std::vector<PlannedRun> plan_points(std::vector<SweepPoint>& points, Planner& planner,
                                    std::vector<UnfitRun>* unfit) {
  std::vector<PlannedRun> runs;
  Mistakes mistakes;
  for (SweepPoint& point : points) {
    if (mistakes.size() >= kMostMistakes) break;
    mistakes.passes([&] {
      PlannedRun run = planner.plan(point);
      try {
        planner.check(run);
        runs.push_back(std::move(run));
      } catch (const ConfigError& unlocated) {
        const ConfigError error = in_job(unlocated, point);
        if (!unfit) throw error;
        unfit->push_back({run.coordinates, error});
      }
    });
  }
  if (mistakes.size() == 0) mistakes.passes([&] { planner.idle().check(points); });
  mistakes.raise();
  if (runs.empty()) throw unfit->front().why;
  return runs;
}

Plan plan_runs(const std::filesystem::path& path, const std::vector<std::string>& settings,
               const PlanTarget& target, std::vector<UnfitRun>* unfit, const WantedRuns& wanted) {
  const std::filesystem::path base = path.parent_path();
  std::optional<WorldOverride> world_override;
  if (!target.world.is_null()) world_override.emplace(target.world, "--world");
  const Json config = read_and_set(path, settings, world_override ? &*world_override : nullptr);
  auto points = expand_jobs(expand_sweep(config, base), base);
  if (world_override) world_override->retarget_points(points);
  if (wanted) keep_wanted(points, wanted);
  Planner planner(base, target);
  Mistakes mistakes;
  Plan plan;
  mistakes.passes([&] { plan.runs = plan_points(points, planner, unfit); });
  mistakes.passes([&] { check_overwritten(planner.fields(), config, points); });
  mistakes.raise();
  plan.name = plan.runs.front().experiment.name;
  for (const PlannedRun& run : plan.runs)
    if (run.experiment.name != plan.name)
      throw ConfigError("/name", "cannot be swept; expected one name for all runs");
  check_distinct(plan.runs, unfit);
  return plan;
}

Plan plan_of_file(const std::filesystem::path& path, const std::vector<std::string>& settings,
                  const PlanTarget& target, std::vector<UnfitRun>* unfit,
                  const WantedRuns& wanted = {}) {
  try {
    return plan_runs(path, settings, target, unfit, wanted);
  } catch (const ConfigError& error) {
    throw error.in_file(path.string());
  }
}

}  // namespace

Plan make_plan(const std::filesystem::path& config, const std::vector<std::string>& settings,
               const PlanTarget& target) {
  return plan_of_file(config, settings, target, nullptr);
}

Plan plan_fit_runs(const std::filesystem::path& config, const std::vector<std::string>& settings,
                   std::vector<UnfitRun>& unfit, const WantedRuns& wanted) {
  return plan_of_file(config, settings, {}, &unfit, wanted);
}

std::vector<std::string> warnings_of(const Plan& plan) {
  std::vector<std::string> all;
  for (const PlannedRun& run : plan.runs)
    for (const std::string& warning : run.warnings)
      if (std::ranges::find(all, warning) == all.end()) all.push_back(warning);
  return all;
}

void keep_only(Plan& plan, const std::vector<std::string>& ids) {
  std::vector<std::string> known;
  for (const PlannedRun& run : plan.runs) known.push_back(run.id);
  for (const std::string& id : ids)
    if (std::ranges::find(known, id) == known.end()) unknown_name("--only", "run", id, known);
  std::erase_if(plan.runs, [&ids](const PlannedRun& run) {
    return std::ranges::find(ids, run.id) == ids.end();
  });
}

}  // namespace trigram
