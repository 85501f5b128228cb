#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/plan.h"
#include "experiments/sweep/sweep_runner.h"

namespace trigram {

/// The runs of an experiment in the world mpi, on networks that the kernel of this machine
/// emulates. This process creates each network and starts mpirun inside it; mpirun's processes make
/// the runs.
class EmulatedRuns {
 public:
  struct Options {
    std::string config;
    std::vector<std::string> settings;
    std::vector<std::string> launcher;  // options for mpirun
    SweepRunner::Options runner;
    /// A shell command that every worker runs instead of the experiment, once inside each of the
    /// experiment's networks. If it is empty, the experiment's own runs are made.
    std::string program = {};
  };
  /// Checks the configuration, then whether this machine can emulate networks. Throws ConfigError.
  EmulatedRuns(Options options, bool quiet);

  /// Makes the missing runs, or runs the program. Returns an exit code: kOk, the code of the first
  /// job that failed, or kInterrupted. No network namespace outlives this process.
  int make();
  /// The plan. It is final only after `make`, because the options of the world depend on the
  /// kernel.
  const Plan& plan() const { return *plan_; }

 private:
  const Options options_;
  const bool quiet_;
  std::optional<Plan> plan_;
};

/// Throws ConfigError if this machine or this user cannot create and remove network namespaces.
void check_for_namespaces();

/// Creates an empty folder for the files of a job. Throws std::system_error.
std::filesystem::path make_temporary_folder();

/// Removes the namespaces that killed commands have left behind, and logs how many there were.
void remove_left_namespaces();

}  // namespace trigram
