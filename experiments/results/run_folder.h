#pragma once

#include <filesystem>
#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// The folder of a run whose results are being written: results/NAME/ID.tmp.HOST.PID. Only
/// `publish` gives the folder the name that readers look for, so that nobody reads incomplete
/// results.
class RunFolder {
 public:
  RunFolder(const std::filesystem::path& experiment, const std::string& id);
  /// Removes the folder unless it was published.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return temporary_; }
  /// Writes the manifest and renames the folder to results/NAME/ID; an earlier folder is replaced.
  /// Then writes the file DONE if `done` is true. Everything is on disk when this returns.
  void publish(const Json& manifest, bool done);

 private:
  std::filesystem::path temporary_, final_;
  bool published_ = false;
};

/// Publishes a copy of the finished run in the folder `from`, whose name is its id, under
/// `experiment`. `manifest` is its manifest.
void copy_finished_run(const std::filesystem::path& from, const Json& manifest,
                       const std::filesystem::path& experiment);

/// True for a folder ID.tmp.HOST.PID of this host whose process no longer exists.
bool is_leftover(const std::filesystem::path& folder);

/// Removes the unpublished folders under `experiment` that belong to processes of this host that no
/// longer exist.
void remove_leftovers(const std::filesystem::path& experiment);

}  // namespace trigram
