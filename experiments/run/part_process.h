#pragma once

#include <cstdio>
#include <functional>
#include <optional>

#include "netmodels/heartbeats.h"

// The processes that make the parts of a simulated run whose workers crash.

namespace trigram {

/// A file without a name, by which a child process tells its parent how its part has ended.
class PartFile {
 public:
  /// Throws std::system_error.
  PartFile();
  ~PartFile() { std::fclose(file_); }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(double brought_back_s, const std::optional<HeartbeatDetector>& detector);
  /// Reads what has been written with a detector if `detector` is one.
  void read(double& brought_back_s, std::optional<HeartbeatDetector>& detector);

 private:
  std::FILE* const file_;
};

/// Runs `body` in a child process, which dies with this one, and returns its wait status. Throws
/// std::system_error.
int run_in_child(const std::function<int()>& body);

}  // namespace trigram
