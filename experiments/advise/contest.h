#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/advise/target.h"
#include "experiments/config/plan.h"

namespace trigram {

/// An algorithm with its settings.
struct Candidate {
  Json coordinates;      // where it lies in the sweep of the candidates
  std::string name;      // as in tables
  std::string settings;  // "codec=sign hierarchical=true"; what is not said has its default
  std::string trigram;   // "sync, low, centralised"
};

/// Which algorithms are compared on which cluster, as an experiment that sweeps over algorithms
/// says; it can be planned at any bandwidth and latency between nodes.
class Contest {
 public:
  struct Question {
    std::string cluster;  // a file or a preset
    std::string profile;  // as workloads are named
    Target target;
    std::filesystem::path candidates;      // the experiment; empty: the one for the target
    std::vector<std::string> settings;     // "/json/pointer=value" in place of the experiment's
    std::vector<std::string> algorithms;   // these alone; none: all
    std::vector<std::string> relaxations;  // words of a trigram that candidates must have
  };
  /// Reads and checks everything. Throws ConfigError.
  explicit Contest(const Question& question);

  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// What the cluster is not for, or what is the same as another there: "choco_sgd: why".
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// In canonical form.
  const Json& cluster() const { return cluster_; }
  const Target& target() const { return target_; }

  /// Runs of some candidates, in that order, at {"/cluster/...": value}.
  Plan plan(const Json& at, const std::vector<std::size_t>& candidates) const;

 private:
  void add(const PlannedRun& run, const Question& question);
  void leave_out_doubles(const Plan& plan);
  std::filesystem::path config_;
  std::vector<std::string> settings_;
  Target target_;
  Json cluster_;
  std::vector<Candidate> candidates_;
  std::vector<std::string> left_out_;
};

}  // namespace trigram
