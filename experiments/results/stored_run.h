#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// The content of results/NAME/ID.
struct StoredRun {
  enum State {
    missing,
    failed,   // an error ended it; the next `trigram run` repeats it
    partial,  // published without DONE, because its writer was killed between the two
    stale,    // finished, but by another version of the program or with another schema
    done
  } state = missing;
  Json manifest;          // null if the run is missing
  std::string why_stale;  // says how the result differs from this program's; empty unless stale
};

/// Reads a run's folder. `git` is the version that counts as current.
StoredRun read_stored_run(const std::filesystem::path& folder, const std::string& git);

/// Atomically replaces the sweep coordinates in the manifest in `folder`.
void relabel(const std::filesystem::path& folder, const StoredRun& run, const Json& sweep);

/// True for the folder of a run that has not been published yet.
bool is_unpublished(const std::filesystem::path& folder);
/// The folders of runs at or below `root`, which may be results/NAME/ID, results/NAME or results.
std::set<std::filesystem::path> run_folders(const std::filesystem::path& root);

const char* to_string(StoredRun::State state);

}  // namespace trigram
