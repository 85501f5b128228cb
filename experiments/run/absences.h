#pragma once

#include "core/json.h"
#include "experiments/config/experiment.h"
#include "netmodels/planned_membership.h"

namespace trigram {

/// The object "failures" of the summary of a run whose workers carried on without those that
/// failed. `summary` has its "steps" and "time_s".
Json absences_json(const PlannedMembership& membership, const Experiment& experiment,
                   const Json& summary);

}  // namespace trigram
