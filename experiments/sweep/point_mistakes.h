#pragma once

#include "core/config/config_error.h"
#include "experiments/config/plan.h"
#include "experiments/config/tune_options.h"

namespace trigram {

// Mistakes of the points of a search. A point becomes a row of a zip, but its values come from
// "/tune", which is where a user can correct them.

/// Reports mistakes in the values of a point at the search space, and those of the target that the
/// objective sets at the objective.
ConfigError reported_at_tune(const ConfigError& error, const Json& point,
                             const Objective& objective);

/// Removes from a point the options that have no effect at it, as `error` says. Returns false if
/// there are none.
bool leave_out_idle(Json& point, const ConfigError& error);

/// Throws ConfigError if the objective weights a key that is null in the summary of this run: a
/// model's loss, accuracy or consensus distance if its workload has none.
void check_weighted_keys(const Objective& objective, const PlannedRun& run);

}  // namespace trigram
