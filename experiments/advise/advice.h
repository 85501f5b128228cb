#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/config/option_type.h"
#include "experiments/advise/flip_search.h"
#include "experiments/advise/target.h"
#include "experiments/results/time_to_target.h"

namespace trigram {

/// A candidate's result on a network.
struct Standing {
  std::size_t candidate = 0;
  /// The candidate's cost, with what failures of nodes cost. It is infinite if the run failed,
  /// never reached the target, or is not compared.
  TimeToTarget cost;
  std::string id;                // id of the run
  Json summary;                  // summary of the run; null if the run failed
  long steps = 0;                // number of steps that the run was planned with
  std::string why_not_compared;  // why the run does not show the algorithm's cost; empty if it does
  long needs_steps = 0;          // number of steps that would show the cost; 0 if unknown
  std::string why_rates_not_compared;  // why only its time to the target is compared, or empty
  /// US dollars (`dollars` of target.h); empty if unknown.
  std::optional<double> usd = {};
  bool over_budget = false;  // it reaches the level, but spends more than the budget
  bool carries_on = false;   // when a node fails; only with failures
  double goodput = 1;        // share of the time in which steps are made that count (RestartCost)

  /// Sets the cost and the dollars from the summary of a run that is compared.
  void take_cost(const Target& target);
  bool reaches_target() const { return std::isfinite(cost.time_s); }
  /// True if the candidate's cost is known. A known cost is infinite if the run never reached the
  /// target.
  bool is_known() const { return why_unknown().empty(); }
  /// The reason why the cost is not known, as a phrase that follows the candidate's name; empty if
  /// the cost is known.
  std::string why_unknown() const { return summary.is_null() ? "failed" : why_not_compared; }
};

/// The candidates that are simulated with unequal NICs: the first four whose cost exceeds the least
/// cost by at most a half. `standings` are sorted.
std::vector<std::size_t> contenders(const std::vector<Standing>& standings);

/// The dollars that a candidate spends, or the samples that the budget buys, and the title of that
/// column.
std::string money_text(const Standing& standing, const Target& target);
std::string money_title(const Target& target);

/// The quantity that is varied to find the point at which the ranking changes (flips).
enum class Quantity { bandwidth, latency, step_time };
/// "bandwidth", "latency" or "step_time".
const char* quantity_name(Quantity quantity);

/// The result of varying one quantity in one direction until the winner changes.
struct Sensitivity {
  Quantity quantity = Quantity::bandwidth;
  bool increases = false;  // false: the quantity is decreased
  double limit = 1;        // the last factor that was tried
  FlipSearchResult search;
  std::string why_unknown = {};  // why the winner's cost is unknown, if that ended the search
};

/// A candidate's cost on a cluster whose NICs, or ports inside nodes, differ slightly in bandwidth.
/// If bandwidths are exactly equal, messages may avoid contention in a way that no real cluster
/// does, and the simulated cost is too low.
struct UnequalNics {
  std::size_t candidate = 0;
  TimeToTarget equal;              // cost on the cluster as described, with equal bandwidths
  double least_s = 0, most_s = 0;  // over the draws; infinite if the target was never reached
  TimeToTarget mean;               // over the draws
  std::string why_unknown =
      {};  // why the cost is unknown in some draw; empty if it is known in all
  /// True if in some draw the cost differs from `equal` by more than the fraction kNicDifference
  /// plus the size of a tie (kTie), even if the true times are as close as their intervals allow.
  bool is_sensitive = false;

  /// Adds the result of one draw.
  void add(const Standing& draw);
};
/// The largest relative difference of unequal bandwidths, which are drawn uniformly, and the number
/// of draws.
constexpr double kNicDifference = 0.01;
constexpr int kNicDraws = 3;

/// The result of the search for a candidate's bucket size.
struct TunedBucket {
  std::string candidate;  // with its settings before the search
  Json bucket;            // the size that took the place of its own; null if none costs less
  double saved = 0;       // by what share the candidate costs less
  std::string text() const;
};

struct Advice {
  std::vector<TunedBucket> tuned;   // candidates whose buckets were searched
  std::vector<Standing> standings;  // best first
  /// The first candidate, and all candidates that tie with it or may be earlier, given their
  /// evaluation intervals. A candidate with a coarse time (TimeToTarget::is_coarse) is left out if
  /// that time ends later, by more than a tie, than a time that is not coarse.
  std::vector<const Standing*> leaders() const;
  bool leads(const Standing& standing) const;
  /// The fraction by which a candidate costs more than the first candidate.
  double behind(const Standing& standing) const;
  /// True if evaluations are too sparse to tell how far a candidate is behind the first, or whether
  /// it is behind at all.
  bool is_undecided(const Standing& standing) const;
  /// The first candidate and the candidates close behind it, in order of their cost with unequal
  /// NICs; candidates with unknown costs come last. Empty if NICs already differ in the cluster's
  /// description.
  std::vector<UnequalNics> unequal;
  std::vector<Sensitivity> sensitivities;
  /// The entry of `unequal` for the candidate that is first on the network as described.
  const UnequalNics& winner_with_unequal_nics() const;
  /// True if that candidate also costs least with unequal NICs, or ties with the least cost.
  bool holds_with_unequal_nics() const;
};

}  // namespace trigram
