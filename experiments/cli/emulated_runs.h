#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/plan.h"
#include "experiments/sweep/sweep_runner.h"

namespace trigram {

/// The runs of an experiment in the world mpi, on networks that the kernel of this machine
/// emulates: this process makes a network, and starts mpirun on it, which makes the runs.
class EmulatedRuns {
 public:
  struct Options {
    std::string config;
    std::vector<std::string> settings;
    std::vector<std::string> launcher;  // for mpirun
    SweepRunner::Options runner;
    /// A command for a shell that every worker runs in place of the experiment: once on each of its
    /// networks, which it finds around it. Empty: the experiment's own runs.
    std::string program = {};
  };
  /// Checks the configuration, and then that this machine can emulate. Throws ConfigError.
  EmulatedRuns(Options options, bool quiet);

  /// Makes the runs that are missing, or runs the program. Returns an exit code: kOk, that of the
  /// first job that failed, kInterrupted. Namespaces that it makes never outlive the process.
  int make();
  /// Once they have been made: what they are depends on the kernel.
  const Plan& plan() const { return *plan_; }

 private:
  const Options options_;
  const bool quiet_;
  std::optional<Plan> plan_;
};

/// Throws ConfigError where this machine, or this user, cannot make and remove network namespaces.
void check_for_namespaces();

/// Removes those that killed commands have left behind, and says so.
void sweep_leftovers();

}  // namespace trigram
