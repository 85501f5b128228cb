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

/// A candidate on a network.
struct Standing {
  std::size_t candidate = 0;
  /// What it costs; infinite: it failed, never reached the accuracy, or is not compared.
  Reached cost;
  std::string id;        // of its run
  Json summary;          // of its run; null when it failed
  long steps = 0;        // that its run was to make
  std::string why;       // it is not compared: its run does not show what the algorithm costs
  long needs_steps = 0;  // if more would show it, so many, as far as is known
  std::string off;       // why only its time to an accuracy is, and its means per step are not

  bool gets_there() const { return std::isfinite(cost.time_s); }
  /// Whether its cost is known, which may be that it never gets there.
  bool is_known() const { return why_unknown().empty(); }
  /// Why it is not, to follow its name; empty where it is.
  std::string why_unknown() const { return summary.is_null() ? "failed" : why; }
};

/// What is changed to see where the order flips.
enum class Quantity { bandwidth, latency, step_time };
/// "bandwidth", "latency" or "step_time".
const char* quantity_name(Quantity of);

/// How far one of them was changed in one way, and where the order flips.
struct Outlook {
  Quantity of = Quantity::bandwidth;
  bool more = false;  // of it
  double limit = 1;   // the furthest factor
  Found found;
  std::string why_unknown = {};  // why the winner's cost is not, where the flip has no `first`
};

/// The cost of a candidate on a cluster whose NICs and ports inside nodes differ slightly in
/// bandwidth. On exactly equal ones, messages can keep out of each other's way as they do on no
/// real cluster, and the cost is too low.
struct Unequal {
  std::size_t candidate = 0;
  Reached equal;                   // where they are as described
  double least_s = 0, most_s = 0;  // of some draws; infinite: it did not get there
  Reached mean;
  std::string why_unknown = {};  // why its cost is not known in some draw; empty: it is in all
  /// It changes by more than bandwidths differ, more than a tie, and more than evaluations leave
  /// open.
  bool changes = false;

  /// Counts one of the draws.
  void add(const Standing& draw);
};
/// How far bandwidths differ there: evenly drawn, up to this share.
constexpr double kNicsDiffer = 0.01;

struct Advice {
  std::vector<Standing> standings;  // the best first
  /// The first and those that may be it as well, as far as evaluations tell, or tie with it. What
  /// is coarse is not among them where it ends later than what is not.
  std::vector<const Standing*> leaders() const;
  bool leads(const Standing& standing) const;
  /// By which share more a candidate costs than the first.
  double behind(const Standing& standing) const;
  /// Whether evaluations leave open by how much a candidate is behind the first, if at all.
  bool leaves_open(const Standing& standing) const;
  /// Of the first and those close behind, the best there first, and what is not known last; empty
  /// where NICs differ as it is.
  std::vector<Unequal> unequal;
  std::vector<Outlook> outlooks;
  /// The first of the network as it is, where NICs differ.
  const Unequal& first_where_nics_differ() const;
  /// Whether the first is first there, too, or ties with who is.
  bool holds_where_nics_differ() const;
};

/// Makes the runs that an answer needs, those that are not there yet, and keeps all of them.
class Advisor {
 public:
  struct Options {
    SweepRunner::Options runner;
    double range = 64;  // how far bandwidth, latency and a step time that is not known are changed
    bool quiet = false;
  };
  /// What kept it from an answer, as an exit code.
  struct Stopped {
    int code;
  };
  Advisor(const Contest& contest, Options options);

  /// Throws Stopped when it is interrupted, or when no candidate has a result.
  Advice advise();

  /// Whether some run failed, so that the answer is without it.
  bool failed() const { return failed_; }
  const NetworkScale& scale(Quantity of) const {
    if (of == Quantity::step_time) return step_time_;
    return of == Quantity::bandwidth ? bandwidth_ : latency_;
  }
  /// Where the runs on the network as it is are. Those that seek flips are beside them, in
  /// "NAME-search": there, only candidates that could be first were run.
  std::filesystem::path results() const;

 private:
  struct Place {  // factors on what is described
    double bandwidth = 1, latency = 1, step_time = 1;
    int draw = 0;        // of NICs that differ; 0: they are as described
    bool trial = false;  // how long runs have to be
    bool operator==(const Place&) const = default;
  };
  void find_lengths();
  Json settings(const Place& place) const;
  std::vector<Standing> stand(const Place& place, const std::vector<std::size_t>& candidates);
  std::vector<Standing> stand(const Place& place, const std::vector<std::size_t>& candidates,
                              const std::vector<long>& steps);
  Standing stand(std::size_t candidate, const PlannedRun& run, const StoredRun& stored);
  void make(const Plan& plan, const Place& place);
  std::vector<Unequal> where_nics_differ(const std::vector<Standing>& standings);
  Outlook look(Outlook outlook, std::size_t winner);
  std::vector<Outlook> outlooks() const;
  double unchanged(Quantity of) const { return scale(of).from_zero() ? 0 : 1; }
  Place unchanged() const { return {unchanged(Quantity::bandwidth), unchanged(Quantity::latency)}; }

  const Contest& contest_;
  const Options options_;
  std::vector<long> steps_;  // of each candidate's runs on the network as it is
  const NetworkScale bandwidth_, latency_, step_time_;
  std::set<std::pair<std::string, std::string>> tried_;  // folders and ids that are not made again
  bool failed_ = false;
};

}  // namespace trigram
