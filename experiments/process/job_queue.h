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

/// Exit code of a child that ran out of memory.
inline constexpr int kOutOfMemory = 12;

/// Work to be done in its own child process.
struct Job {
  bool exclusive = false;  // no other job runs at the same time
  /// Called in the parent just before the fork. Returns the work of the child and the file for its
  /// output. The child exits with the code that `body` returns.
  struct Started {
    std::function<int()> body;
    std::filesystem::path log;  // of stdout and stderr
  };
  std::function<Started()> start;
  /// Called in the parent with the child's wait status.
  std::function<void(int wait_status)> ended;
};

/// Runs jobs in forked children, at most `parallel` at a time. Children die with the parent,
/// however it ends.
class JobQueue {
 public:
  explicit JobQueue(int parallel) : parallel_(parallel) {}
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  void add(Job job) { waiting_.push_back(std::move(job)); }
  /// Runs all jobs and calls `tick` about ten times a second. Returns false after SIGINT, SIGTERM
  /// or SIGHUP; then all children have been killed without calls of `ended`, and waiting jobs are
  /// not started.
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
