#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/question.h"
#include "experiments/config/plan.h"

namespace trigram {

/// An algorithm with its settings.
struct Candidate {
  Json coordinates;  // its point in the sweep of the candidates
  std::string name;  // as shown in tables
  std::string
      settings;  // for example "codec=sign hierarchical=true"; other options have their defaults
  std::string trigram;  // for example "sync, low, centralised"
  long steps = 0;       // initial number of steps of its runs
  long eval_every = 0;  // steps between evaluations if the target is an accuracy; else 0
  bool grows = false;   // its runs may need more steps before they show its cost
};

/// The algorithms to compare, and the cluster to compare them on. They come from an experiment that
/// sweeps over algorithms. Runs can be planned at any bandwidth and latency between nodes, and at
/// any speed of computation.
class Contest {
 public:
  /// Reads and checks the whole experiment. Throws ConfigError.
  explicit Contest(const Question& question);

  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// The algorithms that are not compared, each with the reason: "choco_sgd: why".
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// In canonical form.
  const Json& cluster() const { return cluster_; }
  const Target& target() const { return question_.target; }
  const std::string& profile() const { return question_.profile; }
  /// The name of the experiment to which the runs belong.
  std::string name() const { return question_.name(); }
  /// The name of the workload that is trained if the target is an accuracy; otherwise empty.
  const std::string& trained() const { return trained_; }
  /// A sentence that says which effects the answer ignores.
  std::string ignored() const;
  /// The layer times of the profile, in the form in which runs on the network as described use
  /// them.
  const LayerTimes& times() const { return times_; }
  /// Warnings: the reasons why computation may take a different time on the cluster than in the
  /// runs, and other conditions on which the results depend.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// True if, as far as known, computation takes as long on the cluster as in the runs.
  bool is_time_known() const { return is_time_known_; }
  const std::vector<std::string>& assumed() const { return assumed_; }
  /// The JSON pointer of the option that sets the computation time of a step.
  std::string step_time_pointer() const;

  /// Plans a run of each of the given candidates, in the given order, with the settings `at`,
  /// {"/json/pointer": value}. `steps` has one entry for each candidate of the contest.
  Plan plan(const Json& at, const std::vector<std::size_t>& candidates,
            const std::vector<long>& steps) const;

 private:
  std::vector<std::string> with_flags(std::vector<std::string> sentences) const;
  bool is_asked_for(const std::string& algorithm) const;
  void add(const PlannedRun& run);
  bool fit(SweepPoint& point, std::vector<std::string>& notes) const;
  bool enters(SweepPoint& point, std::map<Json, Json>& entered);
  void leave_out_doubles(const Plan& plan);
  void leave_out_unlisted(const std::vector<UnfitRun>& unfit);
  void plan_alike(const Json& at, long steps, long eval_every,
                  const std::vector<std::size_t>& candidates,
                  std::map<std::size_t, PlannedRun>& runs) const;
  const Question question_;
  std::filesystem::path config_;
  std::vector<std::string> settings_;
  Json cluster_;
  std::string trained_;
  LayerTimes times_;
  std::vector<std::string> warnings_, assumed_;
  bool is_time_known_ = true;
  std::vector<Candidate> candidates_;
  std::vector<std::string> left_out_;
};

}  // namespace trigram
