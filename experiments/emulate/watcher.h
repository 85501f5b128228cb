#pragma once

#include <sys/types.h>

#include <filesystem>

namespace trigram {

/// Cleans up when this object is destroyed, or when this process dies before that for any reason:
/// removes the namespaces of this process, the processes inside them, and a folder. A child process
/// in its own session does this. The child waits for the end of a pipe that this process holds
/// open.
class Watcher {
 public:
  explicit Watcher(const std::filesystem::path& folder);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  const std::filesystem::path folder_;
  pid_t child_ = 0;
  /// This process never writes to the pipe; the child only waits for its end. Tools that this
  /// process starts inherit the pipe, so the child sees the end only after these tools have ended.
  int pipe_ = -1;
};

}  // namespace trigram
