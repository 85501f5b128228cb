#pragma once

#include <string>

#include "core/json.h"
#include "experiments/config/experiment.h"
#include "netmodels/planned_membership.h"

namespace trigram {

/// The object "failures" of the summary of a run whose workers carried on without those that
/// failed. `summary` has its "steps" and "time_s".
Json absences_json(const PlannedMembership& membership, const Experiment& experiment,
                   const Json& summary);

/// Says what was lost because rounds of averages closed early; empty if nothing was. `failures` is
/// that object.
std::string late_rounds_warning(const Json& failures);

}  // namespace trigram
