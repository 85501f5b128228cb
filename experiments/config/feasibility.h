#pragma once

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// Throws a ConfigError that lists every reason why a well-formed experiment cannot run, such as an
/// algorithm that needs more workers, or a network that the world does not support.
/// `in_this_process` is true if this process will run the experiment, so that its world must be
/// available in this process. `supervised` is true for `trigram launch`.
void check_feasible(const Experiment& experiment, const WorkloadFactory& workload,
                    bool in_this_process, bool supervised);

}  // namespace trigram
