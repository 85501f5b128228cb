#pragma once

#include <filesystem>
#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// A run's results while they are written: results/NAME/ID.tmp.HOST.PID. Only `publish` gives them
/// the name that readers look at, so that nothing half-written is ever taken for a result.
class RunFolder {
 public:
  RunFolder(const std::filesystem::path& experiment, const std::string& id);
  /// Removes the folder unless it was published.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return temporary_; }
  /// Writes the manifest and renames the folder to results/NAME/ID, in place of an earlier one; the
  /// file DONE comes last, and only when `done`. All of it is on the disk when this returns.
  void publish(const Json& manifest, bool done);

 private:
  std::filesystem::path temporary_, final_;
  bool published_ = false;
};

/// True for ID.tmp.HOST.PID of this host whose process is gone.
bool is_leftover(const std::filesystem::path& folder);

/// Removes what processes of this host that are gone have left unpublished under `experiment`.
void remove_leftovers(const std::filesystem::path& experiment);

}  // namespace trigram
