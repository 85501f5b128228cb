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
  Json coordinates;      // where it lies in the sweep of the candidates
  std::string name;      // as in tables
  std::string settings;  // "codec=sign hierarchical=true"; what is not said has its default
  std::string trigram;   // "sync, low, centralised"
  long steps = 0;        // of its runs, at first
  long eval_every = 0;   // steps between evaluations, where an accuracy is asked for; else 0
  bool grows = false;    // its runs may need more steps to show what it costs
};

/// Which algorithms are compared on which cluster, as an experiment that sweeps over algorithms
/// says; it can be planned at any bandwidth and latency between nodes, and any speed of
/// computation.
class Contest {
 public:
  /// Reads and checks everything. Throws ConfigError.
  explicit Contest(const Question& question);

  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// What is not compared, such as what the cluster is not for: "choco_sgd: why".
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// In canonical form.
  const Json& cluster() const { return cluster_; }
  const Target& target() const { return question_.target; }
  const std::string& profile() const { return question_.profile; }
  /// Of the experiment that its runs make up.
  std::string name() const { return question_.name(); }
  /// What is trained for an accuracy; otherwise empty.
  const std::string& trained() const { return trained_; }
  /// A sentence that says what the answer ignores.
  std::string ignored() const;
  /// Of the profile, as runs compute with them on the network as it is.
  const LayerTimes& times() const { return times_; }
  /// Why computation may take another time on the cluster than in the runs, and what else the rows
  /// depend on.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Whether computation takes as long on the cluster as in the runs, as far as is known.
  bool is_time_known() const { return is_time_known_; }
  const std::vector<std::string>& assumed() const { return assumed_; }
  /// The pointer by which a step's computation is set.
  std::string step_time_pointer() const;

  /// Runs of some candidates, in that order, at {"/json/pointer": value}. `steps`: of the runs of
  /// each candidate of the contest.
  Plan plan(const Json& at, const std::vector<std::size_t>& candidates,
            const std::vector<long>& steps) const;

 private:
  std::vector<std::string> with_flags(std::vector<std::string> sentences) const;
  bool is_asked_for(const std::string& algorithm) const;
  void add(const PlannedRun& run);
  bool fit(SweepPoint& point, std::vector<std::string>& said) const;
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
