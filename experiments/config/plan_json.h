#pragma once

#include "experiments/config/plan.h"

namespace trigram {

/// What other processes need to make the runs of a plan together with this one: all but warnings
/// and assumed values, which only the process that made the plan reports.
Json to_json(const Plan& plan);

/// The plan, of which this process reads the input files but no configuration. Throws ConfigError
/// if an input file is not the one that was hashed for the plan, or if a run is not feasible in
/// this process, for example because its world is not available here.
Plan plan_from_json(const Json& json);

}  // namespace trigram
