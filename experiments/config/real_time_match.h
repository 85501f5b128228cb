#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

// These functions tell which parts of its configuration a run in real time realizes. In a simulated
// run, all parts have their effect.

namespace trigram {

/// True unless the run leaves out the computation time of its profile's layers.
bool computes_layers(const Experiment& experiment);

/// True if a model that is priced as a profile gets both the computation time and the message sizes
/// of the profile in this run.
bool trains_the_priced_model(const Experiment& experiment);

/// Sentences about the parts of the configuration that have no effect on the run, and about how to
/// give them an effect. These parts are the cluster's network, its accelerator's rates, and the
/// computation time and the message sizes of a profile. There are no sentences for a simulated run.
/// `coordinates` are the run's point in its sweep; a warning names the swept network options, which
/// have no effect.
std::vector<std::string> real_time_warnings(const Experiment& experiment,
                                            const WorkloadFactory& workload,
                                            const Json& coordinates);

}  // namespace trigram
