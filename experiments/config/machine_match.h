#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

// Whether the layer times of a workload's profile are those of the cluster's accelerator.

namespace trigram {

/// The cluster's accelerator by name and rates; a rate is 0 where the cluster names an accelerator
/// and leaves the rate at its default, which is of another.
AcceleratorRates rates_of(const Accelerator& accelerator);

/// Writes the cluster's rates into a workload whose profile is to be scaled to them ("accelerator":
/// "cluster"), if the cluster says them.
void bind_accelerator(Json& workload, const Accelerator& accelerator);

/// Where options that adapt the workload's profile to a machine stand: "/workload", or
/// "/workload/priced_with".
std::string adaptation_pointer(const Json& workload);

/// Why computation may take another time than on the cluster's accelerator, as sentences; none
/// where times were measured on it, or options say what they are on it.
std::vector<std::string> machine_warnings(const Experiment& experiment,
                                          const WorkloadFactory& workload);

}  // namespace trigram
