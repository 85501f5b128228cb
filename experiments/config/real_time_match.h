#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

// These functions tell which parts of its configuration a run in real time carries out.

namespace trigram {

/// True if the run takes the computation time of its profile's layers, or has no profile.
bool computes_layers(const Experiment& experiment);

/// True if a model that is priced as a profile gets both the computation time and the message sizes
/// of the profile in this run.
bool trains_the_priced_model(const Experiment& experiment);

/// Sentences about the parts of the configuration that the run does not carry out, and about how to
/// have them carried out. These parts are the cluster's network, its accelerator's rates, and the
/// computation time and the message sizes of a profile. There are no sentences for a simulated run.
/// `coordinates` are the run's point in its sweep; a warning names the swept network options, which
/// have no effect.
std::vector<std::string> real_time_warnings(const Experiment& experiment,
                                            const WorkloadFactory& workload,
                                            const Json& coordinates);

}  // namespace trigram
