#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/plan.h"
#include "experiments/emulate/emulated_network.h"
#include "experiments/sweep/sweep_runner.h"

namespace trigram {

/// The name under which `compare-worlds` takes PyTorch's DistributedDataParallel for a world.
inline constexpr const char* kDdp = "ddp";

/// The runs of an experiment, made by PyTorch's DistributedDataParallel over gloo on networks that
/// the kernel of this machine emulates. Algorithms become communication hooks, and options of
/// buckets become those of DDP. The model is what a function of a Python file returns; the
/// experiment's workload should be its profile.
class DdpRuns {
 public:
  struct Options {
    std::string config;
    std::vector<std::string> settings;
    std::string model;  // FILE.py:FUNCTION
    SweepRunner::Options runner;
  };
  /// Checks the configuration, then whether this machine has what the runs need. Throws
  /// ConfigError.
  DdpRuns(Options options, bool quiet);

  /// Makes the missing runs. Returns an exit code. No network namespace outlives this process.
  int make();
  const Plan& plan() const { return *plan_; }
  /// Manifests of the finished runs, with the part of a summary that is comparable.
  std::vector<Json> results() const;

 private:
  std::filesystem::path file_of(const PlannedRun& run) const;
  /// The stored result; null if there is none for this model.
  Json stored(const PlannedRun& run) const;
  int make_group(const EmulatedNetwork& network, const std::vector<const PlannedRun*>& runs,
                 const std::filesystem::path& folder);

  Options options_;
  const bool quiet_;
  std::string model_hash_;
  std::optional<Plan> plan_;
};

}  // namespace trigram
