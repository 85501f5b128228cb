#include "experiments/launch/failure_injector.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <set>

#include "experiments/launch/local_ranks.h"

namespace trigram {

void FailureInjector::tick(double now_s, pid_t launcher, int ranks) {
  std::erase_if(frozen_, [now_s](const Frozen& frozen) {
    if (frozen.until_s > now_s) return false;
    kill(frozen.process, SIGCONT);
    return true;
  });
  while (next_.at_s <= now_s && inject(next_, now_s, launcher, ranks))
    next_ = sequence_.next(next_.at_s);
}

void FailureInjector::change_nodes(const Failure& change, double now_s) {
  const bool joins = change.kind == Failure::Kind::join;
  joined_nodes_ += joins ? 1 : -1;
  spdlog::info("{:.1f} s: node {} {}", now_s, change.node, joins ? "joins" : "leaves");
  happened_.push_back({{"at_s", now_s}, {"kind", joins ? "join" : "leave"}, {"node", change.node}});
}

/// Returns false if the processes do not run yet.
bool FailureInjector::inject(const Failure& failure, double now_s, pid_t launcher, int ranks) {
  if (failure.has({Failure::Kind::leave, Failure::Kind::join})) {
    change_nodes(failure, now_s);
    return true;
  }
  const int first = failure.first_rank(workers_per_node_);
  const int last = std::min(failure.last_rank(workers_per_node_), ranks - 1);
  if (first > last) return true;  // the job has no such rank at present
  const std::map<int, std::vector<pid_t>> by_rank = local_ranks(launcher);
  std::set<pid_t> failing;
  for (int rank = first; rank <= last; ++rank) {
    const auto process = by_rank.find(processes_ ? rank : 0);
    if (process == by_rank.end()) return false;
    failing.insert(process->second.begin(), process->second.end());
  }
  const bool crashes = failure.kind == Failure::Kind::crash;
  for (const pid_t process : failing) {
    kill(process, crashes ? SIGKILL : SIGSTOP);
    if (!crashes) frozen_.push_back({process, now_s + failure.duration_s});
  }
  spdlog::info("{:.1f} s: {} {} {}", now_s, failure.rank >= 0 ? "worker" : "node",
               failure.rank >= 0 ? failure.rank : failure.node, crashes ? "crashes" : "freezes");
  happened_.push_back({{"at_s", now_s},
                       {"kind", crashes ? "crash" : "freeze"},
                       {"first_rank", first},
                       {"last_rank", last}});
  return true;
}

}  // namespace trigram
