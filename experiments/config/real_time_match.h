#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

// What a run in real time makes of what its configuration describes.

namespace trigram {

/// Whether the run takes the computation time of its profile's layers, if it has a profile.
bool computes_layers(const Experiment& experiment);

/// Whether a model that is priced as a profile gets both in this run: the computation time and the
/// message sizes of the profile.
bool makes_what_is_priced(const Experiment& experiment);

/// What is described and not made, as sentences that say how to have it: the cluster's network, its
/// accelerator's rates, the computation and the message sizes of a profile. None for a simulated
/// run. `coordinates` are those of the run in its sweep: options of the network that are swept are
/// named.
std::vector<std::string> real_time_warnings(const Experiment& experiment,
                                            const WorkloadFactory& workload,
                                            const Json& coordinates);

}  // namespace trigram
