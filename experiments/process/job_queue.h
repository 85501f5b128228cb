#pragma once

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "experiments/process/signals.h"

namespace trigram {

/// Exit code of a child that is out of memory.
inline constexpr int kOutOfMemory = 12;

/// Something to be done in a process of its own.
struct Job {
  bool exclusive = false;  // nothing else runs beside it
  /// Called in the parent just before the fork; returns what the child does and where its output
  /// goes. The child ends with the code that `body` returns.
  struct Started {
    std::function<int()> body;
    std::filesystem::path log;  // of stdout and stderr
  };
  std::function<Started()> start;
  /// Called in the parent with the child's wait status.
  std::function<void(int wait_status)> ended;
};

/// Runs jobs in forked children, at most `parallel` at a time. Children die with the parent,
/// whatever ends it.
class JobQueue {
 public:
  explicit JobQueue(int parallel) : parallel_(parallel) {}
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  void add(Job job) { waiting_.push_back(std::move(job)); }
  /// Runs all jobs, calling `tick` about ten times a second. Returns false when SIGINT, SIGTERM or
  /// SIGHUP came: all children are then ended, their jobs and the rest not.
  bool run(const std::function<void()>& tick);

 private:
  bool may_start() const;
  void start_next();
  void collect_ended();
  void kill_all();

  const int parallel_;
  Signals signals_;
  std::deque<Job> waiting_;
  std::map<pid_t, Job> running_;
};

}  // namespace trigram
