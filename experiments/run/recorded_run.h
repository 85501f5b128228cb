#pragma once

#include <atomic>
#include <filesystem>

#include "experiments/results/manifest.h"

namespace trigram {

/// Makes a run, and writes metrics.jsonl, trace.json and the outcome into `folder`. Stores the
/// number of finished steps in `progress`. Returns the exit code for the process: 0 for success, 1
/// for failure, 2 for bad input, 124 for a hang.
int record_run(const PlannedRun& run, const std::filesystem::path& folder,
               std::atomic<long>& progress);

/// Reads and removes the outcome that record_run left in `folder`. If there is none, returns an
/// Outcome that says how the process died, given its wait status.
Outcome take_outcome(const std::filesystem::path& folder, int wait_status);

}  // namespace trigram
