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
  Json coordinates;  // its point in the sweep over candidates
  std::string name;  // as shown in tables
  /// The options that do not have their defaults, for example "codec=sign hierarchical=true".
  std::string settings;
  std::string trigram;        // for example "sync, low, centralised"
  long steps = 0;             // initial number of steps of its runs
  long eval_every = 0;        // steps between evaluations if the target is a level; else 0
  long least_eval_every = 0;  // with which all models that are equal are evaluated; else 0
  /// The least number of steps of its runs if NICs or ports differ; 0 if the number of steps is
  /// given, or the target is a level.
  long steps_with_unequal_nics = 0;
  bool grows = false;  // its runs may need more steps before they show its cost
  /// True if its workers may leave lock step after thousands of steps
  /// (experiments/run/lock_step.h), and the number of steps is not given.
  bool leaves_lock_step = false;
  bool exchanges_rarely = false;  // not in every step
  std::string algorithm = {};     // the name of its algorithm
  std::size_t row = 0;            // its index in Contest::listed_rows
  std::string full_name() const { return settings.empty() ? name : name + " " + settings; }
};

/// The algorithms to compare (candidates), and the cluster to compare them on. The candidates come
/// from an experiment that sweeps over algorithms. Their runs can be planned for any bandwidth and
/// latency between nodes, and for any computation time.
class Contest {
 public:
  /// Reads and checks the whole experiment. Throws ConfigError.
  explicit Contest(const Question& question);

  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// The points of the candidates' sweep in its order, as they are listed, with those that are not
  /// compared.
  const std::vector<Json>& listed_rows() const { return listed_; }
  /// The algorithms that are not compared, each with the reason: "choco_sgd: why".
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// True if the user asked for some of the candidates only, by name or by trigram.
  bool is_selection() const {
    return !question_.algorithms.empty() || !question_.relaxations.empty();
  }
  /// The description of the cluster in canonical form.
  const Json& cluster() const { return cluster_; }
  const Target& target() const { return question_.target; }
  const RestartCost& failures() const { return question_.failures; }
  /// The share of the time in which a run makes steps that count. `carries_on`: its workers go on
  /// without a node that fails.
  double goodput(const Json& summary, const Experiment& run, bool carries_on) const {
    return carries_on ? failures().presence()
                      : failures().goodput(pace(summary).step_s, run.cluster.nodes);
  }
  const std::string& profile() const { return question_.profile; }
  /// The cluster's file or preset, as the user named it.
  const std::string& cluster_name() const { return question_.cluster; }
  /// The name of the experiment to which the runs belong.
  std::string name() const { return question_.name(); }
  /// The name of the workload that is trained if the target is a level; otherwise empty.
  const std::string& trained() const { return trained_; }
  /// A sentence that says which effects the answer ignores.
  std::string ignored() const;
  /// The layer times that the runs use if the step time is not varied.
  const LayerTimes& times() const { return times_; }
  /// The reasons why computation may take a different time on the cluster than in the runs, and
  /// other conditions on which the results depend.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// True if, as far as known, computation takes as long on the cluster as in the runs.
  bool is_time_known() const { return is_time_known_; }
  /// Sentences about values that were neither measured nor given, and about changes that were made
  /// to the network and to candidates.
  const std::vector<std::string>& assumed() const { return assumed_; }
  /// The JSON pointer of the option that sets the computation time of a step.
  std::string step_time_pointer() const;

  /// Plans a run of each of the given candidates, in the given order, with the settings `scenario`,
  /// {"/json/pointer": value}. `steps` has one entry for each candidate of the contest.
  Plan plan(const Json& scenario, const std::vector<std::size_t>& candidates,
            const std::vector<long>& steps) const;

 private:
  std::vector<std::string> name_flags(std::vector<std::string> sentences) const;
  bool is_asked_for(const std::string& algorithm) const;
  void add_candidate(const PlannedRun& run);
  bool adapt(SweepPoint& point, std::vector<std::string>& notes) const;
  bool accept(SweepPoint& point, std::map<Json, Json>& accepted);
  void leave_out_duplicates(const Plan& plan);
  void report_unlisted(const std::vector<UnfitRun>& unfit);
  void plan_group(const Json& scenario, long steps, long eval_every,
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
  std::vector<Json> listed_, adapted_;  // points of the sweep as listed, and as planned
  std::vector<std::string> left_out_;
};

}  // namespace trigram
