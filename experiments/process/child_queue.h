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

/// Exit code of a child process that ran out of memory.
inline constexpr int kOutOfMemory = 12;

/// Work that is done in a separate child process.
struct ChildTask {
  bool exclusive = false;  // no other task runs at the same time
  struct Started {
    std::function<int()> body;  // the work of the child; returns the child's exit code
    std::filesystem::path log;  // gets the child's stdout and stderr
  };
  /// Called in the parent just before the fork.
  std::function<Started()> start;
  /// Called in the parent with the child's wait status.
  std::function<void(int wait_status)> ended;
};

/// Runs tasks in forked children, at most `parallel` at a time. Children die with the parent,
/// however it ends.
class ChildQueue {
 public:
  explicit ChildQueue(int parallel) : parallel_(parallel) {}
  ~ChildQueue();
  ChildQueue(const ChildQueue&) = delete;
  ChildQueue& operator=(const ChildQueue&) = delete;

  void add(ChildTask task) { waiting_.push_back(std::move(task)); }
  /// Runs all tasks, and calls `tick` about ten times a second. If SIGINT, SIGTERM or SIGHUP
  /// arrives, kills all children without calls of `ended`, starts no more tasks, and returns false.
  bool run(const std::function<void()>& tick);

 private:
  bool may_start() const;
  void start_next();
  void collect_ended();
  void kill_all();

  const int parallel_;
  Signals signals_;
  std::deque<ChildTask> waiting_;
  std::map<pid_t, ChildTask> running_;
};

}  // namespace trigram
