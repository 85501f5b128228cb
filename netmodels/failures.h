#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "netmodels/heartbeats.h"

namespace trigram {

/// A failure of a worker, a node or links, or a change of the nodes. Times are those of the job:
/// they begin with its first step, and go on while the job recovers.
struct Failure {
  enum class Kind {
    crash,      // the processes end without notice
    freeze,     // the processes stop for `duration_s`, and then continue
    partition,  // links carry nothing for `duration_s`
    leave,      // the processes end, as announced
    join,       // the processes of absent workers start
  };
  double at_s = 0;
  Kind kind = Kind::crash;
  std::int64_t rank = -1, node = -1;  // affected rank or node; negative: not given
  double duration_s = 0;              // of a freeze or a partition
  /// A partition cuts the link of this name (Network::name) in both directions or, if the name is
  /// empty, cuts `nodes` off from the other nodes.
  std::string link = {};
  std::vector<std::int64_t> nodes = {};

  bool has(std::initializer_list<Kind> kinds) const { return std::ranges::count(kinds, kind) > 0; }
  /// The first and the last rank that fails.
  int first_rank(std::int64_t workers_per_node) const;
  int last_rank(std::int64_t workers_per_node) const;
};

/// How a job recovers from a crash.
enum class Recovery {
  in_place,  // workers carry on without the others, if the algorithm can
             // (AlgorithmEntry::dispensable)
  restart,   // all workers restart from the last checkpoint
};

/// The failures of a job, and how long it takes to recover from a crash.
struct Failures {
  std::vector<Failure> events;  // in the order of time
  /// The mean time between two crashes of a node, which are a Poisson process; 0: there are none.
  double node_mtbf_s = 0;
  std::int64_t seed = 0;  // of the draws of crashes
  /// From a crash until all other workers have noticed it; without effect if there are heartbeats,
  /// whose timeout decides.
  double detection_s = 0;
  double restart_s = 0;  // from then on until training goes on: processes start, state is read
  std::optional<Heartbeats> heartbeats = {};
  Recovery recovery = Recovery::in_place;
  bool replace = true;  // if workers carry on: a crashed one is replaced after `restart_s`

  /// True if no worker can fail, and none can be suspected.
  bool none() const { return events.empty() && node_mtbf_s == 0 && !heartbeats; }
};

/// Reads a list of events, or an object.
OptionType<Failures> failures_kind();

/// Throws ConfigError if an event names a rank or a node that does not exist, if an absent worker
/// fails or leaves, if a present worker joins, or if no worker is present at the beginning (see
/// begins_there). `pointer` points to the list of events.
void check_failures(const Failures& failures, std::int64_t nodes, std::int64_t workers_per_node,
                    const std::string& pointer);

/// True if the worker of a rank is present at the beginning. This holds unless its first event,
/// apart from freezes and partitions, is a join.
bool begins_there(const Failures& failures, int rank, std::int64_t workers_per_node);

/// The freezes of a rank, in the order of time.
std::vector<Failure> freezes_of(const Failures& failures, int rank, std::int64_t workers_per_node);

/// For jobs that restart when their nodes change: throws ConfigError at `pointer` if an absent node
/// or the last node leaves, if a present node joins, or if a single rank leaves or joins.
void check_node_changes(const Failures& failures, std::int64_t nodes, const std::string& pointer);

/// The numbers of nodes that a job has, one after another: first `nodes`, then the number after
/// each node that leaves or joins.
std::vector<std::int64_t> node_counts(const Failures& failures, std::int64_t nodes);
/// The nodes that leave and join, in the order of time.
std::vector<Failure> node_changes(const Failures& failures);

/// Draws the failures of a job, one after another, in the order of time: the events of the
/// description, and crashes of nodes, whose intervals are exponential. The same description draws
/// the same failures in every world.
class FailureSequence {
 public:
  FailureSequence(const Failures& failures, std::int64_t nodes);
  /// The first failure at `from_s` or later that was not returned before. `from_s` must not
  /// decrease from call to call. `at_s` is infinite if there is none.
  Failure next(double from_s);
  /// The same, but only crashes.
  Failure next_crash(double from_s);

 private:
  void draw(std::size_t node);

  const Failures& failures_;
  std::size_t next_event_ = 0;
  std::vector<double> crash_s_;  // the next crash of every node
  std::vector<long> drawn_;      // crashes drawn for every node so far
};

}  // namespace trigram
