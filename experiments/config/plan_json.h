#pragma once

#include "experiments/config/plan.h"

namespace trigram {

/// The plan as JSON, for the other processes of a job, which make its runs together with this
/// process. Leaves out warnings and assumed values, which only this process reports.
Json to_json(const Plan& plan);

/// Reads a plan from the JSON of another process. This process reads the input files itself, but no
/// configuration. Throws ConfigError if an input file differs from the file that was hashed for the
/// plan, or if a run is not feasible in this process, for example because its world is not
/// available here.
Plan plan_from_json(const Json& json);

}  // namespace trigram
