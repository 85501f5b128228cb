#pragma once

#include <atomic>
#include <filesystem>

#include "experiments/results/manifest.h"

namespace trigram {

/// Makes a run and writes metrics.jsonl, trace.json and the outcome into `folder`; counts finished
/// steps in `progress`. Returns the exit code of the process that does it: 0, 1, 2 for bad input,
/// or 124 for a hang.
int record_run(const PlannedRun& run, const std::filesystem::path& folder,
               std::atomic<long>& progress);

/// Takes from `folder` the outcome that record_run left there; an Outcome that says how the process
/// died, given its wait status, when there is none.
Outcome take_outcome(const std::filesystem::path& folder, int wait_status);

}  // namespace trigram
