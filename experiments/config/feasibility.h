#pragma once

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// Throws a ConfigError with everything that keeps a well-formed experiment from being run:
/// workers, worlds, networks and workloads that do not go together. `here`: this process is to run
/// it, so that its world must be available.
void check_feasible(const Experiment& experiment, const WorkloadFactory& workload, bool here);

}  // namespace trigram
