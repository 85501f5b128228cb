#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// What results/NAME/ID holds.
struct StoredRun {
  enum State {
    missing,
    failed,   // ended by an error; run again by the next `trigram run`
    partial,  // published without DONE: the writer was killed just then
    stale,    // finished, but by another version of the program, or of another schema
    done
  } state = missing;
  Json manifest;         // null when missing
  std::string stale_as;  // what is not of this program; empty unless stale
};

/// Reads a run's folder. `git` is the version that counts as present.
StoredRun read_stored_run(const std::filesystem::path& folder, const std::string& git);

/// Replaces what the manifest in `folder` says of the run's place in a sweep, in one step.
void relabel(const std::filesystem::path& folder, const StoredRun& run, const Json& sweep);

/// True for the folder of a run that has not been published (yet).
bool is_under_way(const std::filesystem::path& folder);
/// Folders of runs at or below `root`: results/NAME/ID, results/NAME or results.
std::set<std::filesystem::path> run_folders(const std::filesystem::path& root);

const char* to_string(StoredRun::State state);

}  // namespace trigram
