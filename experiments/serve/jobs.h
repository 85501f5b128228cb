#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Commands of this program that the server runs in processes of their own. All functions may be
/// called by several threads.
class Jobs {
 public:
  /// The output of the commands is written to files in `folder`, which must exist.
  explicit Jobs(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Ends all processes, and waits for them.
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// The largest number of commands that run at the same time.
  static constexpr int kMostRunning = 4;

  /// Starts `trigram` with these arguments, and returns the number of the job. `sweep` is the name
  /// of the folder that its results get. The process ends with this one, however it ends. Throws
  /// std::runtime_error if kMostRunning commands run, or the process cannot be started.
  int start(const std::vector<std::string>& arguments, const std::string& title,
            const std::string& sweep);
  /// Asks a command to end. Returns false if there is no such running job.
  bool stop(int id);
  /// Notices processes that have ended.
  void collect();

  /// Describes all jobs, the newest first: {"id", "title", "sweep", "state": "running", "ended" or
  /// "stopped", "exit_code" (null while it runs), "done" and "of" (runs; null before the first has
  /// ended), "text": the end of its output}.
  Json describe();

 private:
  struct Job {
    std::string title, sweep;
    pid_t pid = 0;
    bool running = true, stopped = false;
    int exit_code = 0;
  };

  std::filesystem::path log(int id) const;
  void note_end(Job& job, int wait_status) const;

  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<int, Job> jobs_;  // by number
};

}  // namespace trigram
