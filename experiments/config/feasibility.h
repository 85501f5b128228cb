#pragma once

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// Throws a ConfigError that lists every reason why a well-formed experiment cannot run: workers,
/// worlds, networks and workloads that do not go together. `here` is true if this process will run
/// the experiment, so that its world must be available in this process.
void check_feasible(const Experiment& experiment, const WorkloadFactory& workload, bool here);

}  // namespace trigram
