#pragma once

#include <string>

#include "experiments/config/plan.h"
#include "experiments/results/cores.h"

namespace trigram {

/// Of manifests; one of another cannot be compared with those of this program.
inline constexpr int kManifestSchema = 1;

/// How a run ended.
struct Outcome {
  Json summary = {};       // null when it failed
  std::string error = {};  // empty when it did not
  bool hang = false;       // the watchdog ended it
  bool refused = false;    // bad input, which only showed when it began
  bool ok() const { return error.empty(); }
};

/// When it ran.
struct Period {
  std::string started, finished;  // ISO 8601, UTC
  double wall_s = 0;
};

/// The manifest of a run: what was asked for, by which program, on which machine, and what came
/// out.
/// `links`: those of an emulated network as they were measured before the run, else null.
Json make_manifest(const PlannedRun& run, const Outcome& outcome, const Period& period,
                   const Json& links, const Cores& cores);

/// The present time as ISO 8601 in UTC.
std::string utc_now();

}  // namespace trigram
