#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "experiments/advise/advice.h"
#include "experiments/advise/contest.h"
#include "experiments/advise/network_scale.h"
#include "experiments/sweep/sweep_runner.h"

namespace trigram {

/// Answers a question: makes the runs that it needs, unless their results exist already, and
/// compares them.
class Advisor {
 public:
  struct Options {
    SweepRunner::Options runner;
    double range = 64;  // the largest factor for bandwidth, latency and uncertain step times
    bool ranking_only = false;  // neither unequal NICs nor changes of the network are simulated
    bool quiet = false;
  };
  /// Thrown if there is no answer. `code` is the exit code.
  struct Stopped {
    int code;
  };
  Advisor(const Contest& contest, Options options);

  /// The candidates on the network as described, best first. The runs of a trial are stored in the
  /// "-search" folder, because they are no results. Throws Stopped if interrupted.
  std::vector<Standing> rank(bool trial);
  /// Ranks the candidates, calls `ranked`, and then finds out what would change the order. The
  /// advice that `ranked` gets says nothing about that yet; it contains `tuned`, like the result.
  /// Throws Stopped if interrupted, or if no candidate reaches the target and a run failed.
  Advice advise(std::vector<TunedBucket> tuned, const std::function<void(const Advice&)>& ranked);

  /// True if a run failed, so that its candidate is missing in the answer.
  bool failed() const { return failed_; }
  bool ranking_only() const { return options_.ranking_only; }
  const NetworkScale& scale(Quantity quantity) const {
    if (quantity == Quantity::step_time) return step_time_;
    return quantity == Quantity::bandwidth ? bandwidth_ : latency_;
  }
  /// The folder with the results on the network as described. The results on other networks are in
  /// the folder "NAME-search" beside it, for candidates that could be first there.
  std::filesystem::path results() const;

 private:
  struct Scenario {
    double bandwidth = 1, latency = 1, step_time = 1;  // factors on the described values
    int draw = 0;        // number of the draw of unequal NICs; 0: NICs as described
    bool trial = false;  // true for runs that determine how many steps are needed
    bool operator==(const Scenario&) const = default;
  };
  void find_run_lengths();
  Json settings(const Scenario& scenario) const;
  std::vector<Standing> run(const Scenario& scenario, const std::vector<std::size_t>& candidates);
  std::vector<Standing> run_steps(const Scenario& scenario,
                                  const std::vector<std::size_t>& candidates,
                                  const std::vector<long>& steps);
  bool may_grow(std::size_t candidate, const Scenario& scenario) const;
  bool ended_before(const Standing& standing, double first_s) const;
  void exclude_unfinished(Standing& standing) const;
  Standing standing(std::size_t candidate, const PlannedRun& run, const StoredRun& stored);
  void take_over_trials(const Plan& plan);
  void make_missing_runs(const Plan& plan, const Scenario& scenario);
  std::vector<UnequalNics> run_with_unequal_nics(const std::vector<Standing>& standings);
  Sensitivity scan(Sensitivity sensitivity, std::size_t winner);
  std::vector<Sensitivity> quantities_to_vary() const;
  /// The factor that means the network as described.
  double base(Quantity quantity) const { return scale(quantity).all_zero() ? 0 : 1; }
  Scenario unchanged(bool trial = false) const {
    return {
        .bandwidth = base(Quantity::bandwidth), .latency = base(Quantity::latency), .trial = trial};
  }

  const Contest& contest_;
  const Options options_;
  std::vector<long> steps_;  // number of steps of each candidate's run on the network as described
  const NetworkScale bandwidth_, latency_, step_time_;
  /// Folder and id of the runs that were made or failed; they are not repeated.
  std::set<std::pair<std::string, std::string>> tried_;
  bool failed_ = false;
};

}  // namespace trigram
