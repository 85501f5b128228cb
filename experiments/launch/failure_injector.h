#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/json.h"
#include "netmodels/failures.h"

namespace trigram {

/// Makes processes of this machine fail as a description says: kills them, or stops them for a
/// time; and counts nodes that leave and join. A failure that is due while its processes do not
/// run, because the job is just starting, happens when they do.
class FailureInjector {
 public:
  /// `processes` is false if all ranks are in one process, which fails as a whole.
  FailureInjector(const Failures& failures, std::int64_t nodes, std::int64_t workers_per_node,
                  bool processes)
      : sequence_(failures, nodes),
        workers_per_node_(workers_per_node),
        processes_(processes),
        next_(sequence_.next(0)) {}

  /// Call it often. `now_s` is the time of the job, and `launcher` the process that has started the
  /// job's processes, which are `ranks` in number. Failures of other ranks do not happen.
  void tick(double now_s, pid_t launcher, int ranks);
  /// The nodes that have joined so far, less those that have left.
  int joined_nodes() const { return joined_nodes_; }
  /// The failures that happened.
  const Json& happened() const { return happened_; }

 private:
  struct Frozen {
    pid_t process;
    double until_s;
  };
  bool inject(const Failure& failure, double now_s, pid_t launcher, int ranks);
  void change_nodes(const Failure& change, double now_s);

  FailureSequence sequence_;
  const std::int64_t workers_per_node_;
  const bool processes_;
  Failure next_;
  std::vector<Frozen> frozen_;
  int joined_nodes_ = 0;
  Json happened_ = Json::array();
};

}  // namespace trigram
