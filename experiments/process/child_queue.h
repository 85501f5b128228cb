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
  /// Called in the parent just before the fork. Returns the work of the child and the file for its
  /// output. The child exits with the code that `body` returns.
  struct Started {
    std::function<int()> body;
    std::filesystem::path log;  // gets stdout and stderr
  };
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
  /// Runs all tasks, and calls `tick` about ten times a second. Returns false after SIGINT, SIGTERM
  /// or SIGHUP. Then all children have been killed without calls of `ended`, and the waiting tasks
  /// are not started.
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
