#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/config/sweep.h"

namespace trigram {

/// A run to be made, of which everything has been checked that can be before a worker starts.
struct PlannedRun {
  std::string id;  // 12 hexadecimal digits
  Experiment experiment;
  Json resolved;                                    // the experiment in canonical form
  Json coordinates;                                 // where in the sweep: {"/json/pointer": value}
  std::shared_ptr<const WorkloadFactory> workload;  // shared by runs with equal workloads
  std::vector<std::string> warnings;                // what it does not take into account
  std::vector<std::string> assumed;                 // what nobody has measured or said
  Json inputs;  // SHA-256 of each input file by its path, below the data folder where it lies there
};

struct Plan {
  std::string name;
  std::vector<PlannedRun> runs;  // in the order of the sweep
};

/// The warnings of all runs, each sentence once.
std::vector<std::string> warnings_of(const Plan& plan);

/// Where the runs of a plan are to be made.
struct Place {
  Json world;        // to be taken to (see WorldOverride); null: that of the file
  bool here = true;  // by this process, so that its worlds matter; else by processes that it starts
};

/// Reads a configuration, applies `settings` ("/json/pointer=value"), expands its sweep and checks
/// every run. Throws ConfigError.
Plan make_plan(const std::filesystem::path& config, const std::vector<std::string>& settings,
               const Place& place = {});

/// A run that is well described, but not for the cluster or the world that it is for: too few
/// workers for its algorithm, and the like.
struct UnfitRun {
  Json coordinates;
  ConfigError why;
};

/// Whether a point of a sweep is planned; it may change the point first. Empty: all points are.
using WantedRuns = std::function<bool(SweepPoint& point)>;

/// As make_plan, but runs that are unfit, or the same as one before, go to `unfit`, as long as one
/// is fit.
Plan plan_fit_runs(const std::filesystem::path& config, const std::vector<std::string>& settings,
                   std::vector<UnfitRun>& unfit, const WantedRuns& wanted = {});

/// Leaves the runs with these ids, in the plan's order. Throws ConfigError at "--only" for an id
/// that none has.
void keep_only(Plan& plan, const std::vector<std::string>& ids);

}  // namespace trigram
