#pragma once

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// Throws a ConfigError that lists every reason why a well-formed experiment cannot run, such as a
/// number of workers, a world, a network and a workload that do not fit together. `here` is true if
/// this process will run the experiment, so that its world must be available in this process.
void check_feasible(const Experiment& experiment, const WorkloadFactory& workload, bool here);

}  // namespace trigram
