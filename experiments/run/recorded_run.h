#pragma once

#include <atomic>
#include <filesystem>

#include "experiments/results/manifest.h"
#include "experiments/run/run.h"

namespace trigram {

/// Makes a run (make_run), and writes metrics.jsonl, trace.json and the outcome into `folder`.
/// Stores the number of finished steps in `progress`. Returns the exit code for the process: kOk,
/// kRunFailed, kBadInput, or kWatchdog if the run hung.
int record_run(const PlannedRun& run, const std::filesystem::path& folder,
               std::atomic<long>& progress, const CheckpointPlace& place);

/// Reads and removes the outcome that record_run wrote into `folder`. If the process died, returns
/// an Outcome that says how, given the process's wait status.
Outcome take_outcome(const std::filesystem::path& folder, int wait_status);

}  // namespace trigram
