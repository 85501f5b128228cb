#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/config/jobs.h"
#include "experiments/config/sweep.h"

namespace trigram {

/// A run that is to be made. Everything that can be checked before a worker starts has been
/// checked.
struct PlannedRun {
  std::string id;  // 12 hexadecimal digits
  Experiment experiment;
  Json resolved;     // the experiment in canonical form
  Json coordinates;  // its point in the sweep, {"/json/pointer": value}
  std::shared_ptr<const WorkloadFactory> workload;  // shared by runs with equal workloads
  std::vector<JobBeside> others = {};  // the jobs that share the network with the experiment
  std::vector<std::string> warnings;   // effects that the run does not take into account
  std::vector<std::string> assumed;    // values that were neither measured nor given
  Json inputs;                         // SHA-256 of each input file, by its path (see InputFile)
};

struct Plan {
  std::string name;
  std::vector<PlannedRun> runs;  // in sweep order
};

/// The warnings of all runs, without duplicates.
std::vector<std::string> warnings_of(const Plan& plan);

/// The world in which the runs of a plan are made, and whether this process makes them.
struct PlanTarget {
  Json world;  // replaces the world of the file (see WorldOverride); null: the world of the file
  /// True if this process makes the runs, so that their worlds must be available in it; false if
  /// its child processes make them.
  bool in_this_process = true;
  bool supervised = false;  // `trigram launch` makes the runs
};

/// Reads a configuration, applies `settings` ("/json/pointer=value"), expands its sweep and checks
/// every run. Throws ConfigError.
Plan make_plan(const std::filesystem::path& config, const std::vector<std::string>& settings,
               const PlanTarget& target = {});

/// A well-formed run that does not fit its cluster or its world, for example because its algorithm
/// needs more workers.
struct UnfitRun {
  Json coordinates;
  ConfigError why;
};

/// Returns true for the points of a sweep that should be planned. It may also modify a point. If
/// the function is empty, all points are planned.
using WantedRuns = std::function<bool(SweepPoint& point)>;

/// Plans like make_plan, but appends runs that do not fit, and repetitions of an earlier run, to
/// `unfit` instead of throwing. Throws if no run fits.
Plan plan_fit_runs(const std::filesystem::path& config, const std::vector<std::string>& settings,
                   std::vector<UnfitRun>& unfit, const WantedRuns& wanted = {});

/// Removes all runs except those with these ids, and keeps the order. Throws ConfigError at
/// "--only" if no run has one of the ids.
void keep_only(Plan& plan, const std::vector<std::string>& ids);

}  // namespace trigram
