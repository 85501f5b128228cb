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
  bool hang = false;       // the watchdog ended it
  bool refused = false;    // bad input that was found only when the run began
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

}  // namespace trigram
