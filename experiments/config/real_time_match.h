#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

// How much of its configuration a run in real time carries out.

namespace trigram {

/// Whether the run takes the computation time of its profile's layers, if it has a profile.
bool computes_layers(const Experiment& experiment);

/// Whether a model that is priced as a profile gets both in this run: the computation time and the
/// message sizes of the profile.
bool makes_what_is_priced(const Experiment& experiment);

/// Sentences about the parts of the configuration that the run does not carry out, and how to have
/// them: the cluster's network, its accelerator's rates, the computation and the message sizes of a
/// profile. There are none for a simulated run. `coordinates` say where in its sweep the run is, so
/// that swept options of the network can be named.
std::vector<std::string> real_time_warnings(const Experiment& experiment,
                                            const WorkloadFactory& workload,
                                            const Json& coordinates);

}  // namespace trigram
