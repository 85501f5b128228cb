#pragma once

#include <sys/types.h>

#include <filesystem>

namespace trigram {

/// Removes the namespaces of this process, what runs in them, and a folder: when it is destroyed,
/// and when the process dies before, by whatever. A child in a session of its own does it, which
/// learns of the end from a pipe.
class Watcher {
 public:
  explicit Watcher(const std::filesystem::path& folder);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  const std::filesystem::path folder_;
  pid_t child_ = 0;
  /// Nothing is ever written to it. Tools that this process runs have it, too: what they are about
  /// to make is there before its end is seen.
  int pipe_ = -1;
};

}  // namespace trigram
