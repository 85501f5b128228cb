#pragma once

#include <string>

#include "experiments/config/plan.h"
#include "experiments/results/cores.h"

namespace trigram {

/// Manifest schema version; manifests of other versions are not comparable.
inline constexpr int kManifestSchema = 1;

/// The way in which a run ended.
struct Outcome {
  Json summary = {};       // null if the run failed
  std::string error = {};  // empty if the run succeeded
  bool hang = false;       // true if the watchdog ended the run
  bool refused = false;    // true for bad input that was found only when the run began
  bool ok() const { return error.empty(); }
};

/// The times at which the run began and ended.
struct Period {
  std::string started, finished;  // ISO 8601 in UTC
  double wall_s = 0;
};

/// The manifest of a run: its configuration, the program, the machine and the results. `links` are
/// the measurements of an emulated network's links before the run; otherwise null.
Json make_manifest(const PlannedRun& run, const Outcome& outcome, const Period& period,
                   const Json& links, const Cores& cores);

/// The current time as ISO 8601 in UTC.
std::string utc_now();

/// The quantity by which runs are compared: their means per step, or the time in which they reach
/// an accuracy or a loss.
enum class Compared { rates, time_to_target };

/// The reason why a finished run, given its manifest, does not show its algorithm's cost and must
/// not be compared, as a phrase that follows "it"; empty if the run may be compared. The text
/// comes from the summary's `shortfall` (docs/summary.md).
std::string why_not_compared(const Json& manifest, Compared compared = Compared::rates);

}  // namespace trigram
