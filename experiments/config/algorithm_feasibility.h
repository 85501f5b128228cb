#pragma once

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// Throws a ConfigError that lists every reason why the algorithm of a well-formed experiment, or
/// one of its stages, cannot run with its optimizer, workload and world.
void check_algorithms(const Experiment& experiment, const WorkloadFactory& workload);

}  // namespace trigram
