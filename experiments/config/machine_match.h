#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

// These functions check whether a workload's profile was measured on the cluster's accelerator.

namespace trigram {

/// The name and the rates of the cluster's accelerator. If the cluster gives no name, the
/// accelerator is called "unnamed" if the cluster gives a rate, and counts as a V100 if it gives
/// none. Rates that the cluster does not give are 0, except for a V100, whose rates are known.
AcceleratorRates rates_of(const Accelerator& accelerator);

/// The same as text, which says so if the V100 is only assumed.
std::string text_of(const Accelerator& accelerator);

/// A sentence that says which accelerator or which rates the run assumes. It is empty if the
/// cluster gives its accelerator and all rates, or if the run's times do not depend on them.
std::string assumed_accelerator(const Experiment& experiment, const WorkloadFactory& workload);
/// The assumption that layer times hold for the cluster's accelerator although its name differs
/// from the name of the accelerator that they are for, such as "V100-PCIE" from "V100", and its
/// rates are not known; empty if nothing is assumed.
std::string assumed_variant(const Experiment& experiment, const WorkloadFactory& workload);

/// If the workload asks for its profile to be scaled to the cluster's accelerator ("accelerator":
/// "cluster") and the cluster gives its rates, writes these rates into the workload.
void bind_accelerator(Json& workload, const Accelerator& accelerator);

/// The pointer to the object with the options that adapt the workload's profile to a machine:
/// "/workload" or "/workload/priced_with".
std::string adaptation_pointer(const Json& workload);

/// Sentences that say why computation in the run may take another time than on the cluster's
/// accelerator. There are none if the layer times were measured on that accelerator, if an option
/// gives the times on it, or if the run does not use layer times.
std::vector<std::string> machine_warnings(const Experiment& experiment,
                                          const WorkloadFactory& workload);

}  // namespace trigram
