#pragma once

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/advise/contest.h"
#include "experiments/advise/flip_search.h"
#include "experiments/advise/network_scale.h"
#include "experiments/results/reached.h"
#include "experiments/sweep/sweep_runner.h"

namespace trigram {

/// A candidate's result on a network.
struct Standing {
  std::size_t candidate = 0;
  /// The candidate's cost. It is infinite if the run failed, never reached the accuracy, or is not
  /// compared.
  Reached cost;
  std::string id;                  // id of the run
  Json summary;                    // summary of the run; null if the run failed
  long steps = 0;                  // number of steps that the run was planned with
  std::string not_compared;        // why its run does not show the algorithm's cost, or empty
  long needs_steps = 0;            // number of steps that would show it; 0 if unknown
  std::string rates_not_compared;  // why its means per step are not compared, although its time is

  bool reaches_target() const { return std::isfinite(cost.time_s); }
  /// True if the candidate's cost is known. A cost that is known may be infinite.
  bool is_known() const { return why_unknown().empty(); }
  /// The reason why the cost is not known, as a phrase that follows the candidate's name; empty if
  /// it is known.
  std::string why_unknown() const { return summary.is_null() ? "failed" : not_compared; }
};

/// The quantity that is varied to find the point at which the ranking changes (flips).
enum class Quantity { bandwidth, latency, step_time };
/// "bandwidth", "latency" or "step_time".
const char* quantity_name(Quantity of);

/// The result of varying one quantity in one direction until the winner changes.
struct Sensitivity {
  Quantity of = Quantity::bandwidth;
  bool more = false;  // true: the quantity is increased
  double limit = 1;   // the last factor that was tried
  FlipSearchResult found;
  std::string why_unknown = {};  // why the winner's cost is unknown, if the flip has no `first`
};

/// A candidate's cost on a cluster whose NICs, or ports inside nodes, differ slightly in bandwidth.
/// If bandwidths are exactly equal, messages may avoid each other in a way that no real cluster
/// shows, and the simulated cost is too low.
struct UnequalNics {
  std::size_t candidate = 0;
  Reached equal;                   // cost on the cluster as described, with equal bandwidths
  double least_s = 0, most_s = 0;  // over the draws; infinite if the target was never reached
  Reached mean;
  /// The reason why the cost is unknown in some draw; empty if it is known in all draws.
  std::string why_unknown = {};
  /// True if the cost changes by more than the bandwidths differ plus the size of a tie (kTie),
  /// beyond the uncertainty of the evaluation intervals.
  bool changes = false;

  /// Adds the result of one draw.
  void add(const Standing& draw);
};
/// The largest relative difference of bandwidths, which are drawn uniformly.
constexpr double kNicsDiffer = 0.01;

struct Advice {
  std::vector<Standing> standings;  // best first
  /// The first candidate, and all candidates that tie with it or may be earlier, given their
  /// evaluation intervals. A coarse time (Reached::coarse) is left out if it ends later, by more
  /// than a tie, than a time that is not coarse.
  std::vector<const Standing*> leaders() const;
  bool leads(const Standing& standing) const;
  /// The fraction by which a candidate costs more than the first.
  double behind(const Standing& standing) const;
  /// True if evaluations are too sparse to tell how far a candidate is behind the first, or whether
  /// it is behind at all.
  bool is_undecided(const Standing& standing) const;
  /// The first candidate and those close behind it, in order of their cost with unequal NICs;
  /// candidates with unknown costs come last. Empty if NICs differ in the description itself.
  std::vector<UnequalNics> unequal;
  std::vector<Sensitivity> sensitivities;
  /// The entry of `unequal` for the candidate that is first on the network as described.
  const UnequalNics& first_where_nics_differ() const;
  /// True if that candidate is also first with unequal NICs, or ties with the first.
  bool holds_where_nics_differ() const;
};

/// Makes the runs that an answer needs and that do not exist yet, and keeps their results.
class Advisor {
 public:
  struct Options {
    SweepRunner::Options runner;
    double range = 64;  // the largest factor for bandwidth, latency and uncertain step times
    bool quiet = false;
  };
  /// Thrown if there is no answer. `code` is the exit code.
  struct Stopped {
    int code;
  };
  Advisor(const Contest& contest, Options options);

  /// Throws Stopped if interrupted, or if no candidate reaches the target and a run failed.
  Advice advise();

  /// True if a run failed, so that its candidate is missing in the answer.
  bool failed() const { return failed_; }
  const NetworkScale& scale(Quantity of) const {
    if (of == Quantity::step_time) return step_time_;
    return of == Quantity::bandwidth ? bandwidth_ : latency_;
  }
  /// The folder of the runs on the network as described. The runs that search for flips are in the
  /// folder "NAME-search" beside it, which has only runs of candidates that could be first.
  std::filesystem::path results() const;

 private:
  struct Scenario {  // factors on the described values
    double bandwidth = 1, latency = 1, step_time = 1;
    int draw = 0;        // number of the draw of unequal NICs; 0: NICs as described
    bool trial = false;  // a run that determines how many steps are needed
    bool operator==(const Scenario&) const = default;
  };
  void find_lengths();
  Json settings(const Scenario& scenario) const;
  std::vector<Standing> run(const Scenario& scenario, const std::vector<std::size_t>& candidates);
  std::vector<Standing> run(const Scenario& scenario, const std::vector<std::size_t>& candidates,
                            const std::vector<long>& steps);
  Standing run(std::size_t candidate, const PlannedRun& run, const StoredRun& stored);
  void make(const Plan& plan, const Scenario& scenario);
  std::vector<UnequalNics> where_nics_differ(const std::vector<Standing>& standings);
  Sensitivity scan(Sensitivity sensitivity, std::size_t winner);
  std::vector<Sensitivity> sensitivities() const;
  double base(Quantity of) const { return scale(of).from_zero() ? 0 : 1; }
  Scenario unchanged() const { return {base(Quantity::bandwidth), base(Quantity::latency)}; }

  const Contest& contest_;
  const Options options_;
  std::vector<long> steps_;  // number of steps of each candidate's run on the network as described
  const NetworkScale bandwidth_, latency_, step_time_;
  /// Folder and id of the runs that were tried and are not repeated.
  std::set<std::pair<std::string, std::string>> tried_;
  bool failed_ = false;
};

}  // namespace trigram
