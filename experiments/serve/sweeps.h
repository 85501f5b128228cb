#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// The sweeps in a folder of results, and their reports. All functions may be called by several
/// threads.
class Sweeps {
 public:
  /// Reports are written into `reports`, an existing folder of this process alone.
  Sweeps(std::filesystem::path results, std::filesystem::path reports)
      : results_(std::move(results)), reports_(std::move(reports)) {}

  /// The sweeps by name: {"name", "done", "failed", "stale", "partial", "under way",
  /// "interrupted": numbers of runs, "version": a text that changes whenever a run ends}.
  Json list();
  /// The runs of a sweep, at most `most`: {"label", "state", "error"}. None if there is no such
  /// sweep.
  std::optional<Json> runs(const std::string& name, std::size_t most);

  struct Report {
    std::string page;     // HTML
    std::string failure;  // the reason why there is none
  };
  /// The report of a sweep, or of all sweeps if `name` is empty. It is made again if runs have
  /// ended since the last call.
  Report report(const std::string& name);

 private:
  struct State {
    std::filesystem::file_time_type written;
    std::string state, label, error;
  };
  struct Counted {
    std::map<std::string, int> runs;
    std::string version;
  };

  std::optional<std::filesystem::path> folder_of(const std::string& name) const;
  const State& state_of(const std::filesystem::path& run);
  Counted count(const std::filesystem::path& sweep);

  const std::filesystem::path results_, reports_;
  std::mutex mutex_, report_mutex_;
  std::map<std::filesystem::path, State> states_;  // by folder of the run
  std::map<std::string, std::string> versions_;    // of the reports that exist, by name
};

}  // namespace trigram
