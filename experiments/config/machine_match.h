#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

// Whether the layer times of a workload's profile are those of the cluster's accelerator.

namespace trigram {

/// The cluster's accelerator by name and rates. Without a name it is a V100 if rates are left out
/// too, and "unnamed" otherwise. A rate is 0 where the cluster does not say it, unless the
/// accelerator is a V100.
AcceleratorRates rates_of(const Accelerator& accelerator);

/// The same in words, with why where it is not the cluster that says so.
std::string text_of(const Accelerator& accelerator);

/// Which accelerator or rates are taken for granted, as a sentence: where the cluster says nothing
/// of its accelerator, or not all of its rates, and times of the run depend on them. Empty
/// otherwise.
std::string assumed_accelerator(const Experiment& experiment, const WorkloadFactory& workload);

/// Writes the cluster's rates into a workload whose profile is to be scaled to them ("accelerator":
/// "cluster"), if the cluster says them.
void bind_accelerator(Json& workload, const Accelerator& accelerator);

/// Where options that adapt the workload's profile to a machine stand: "/workload", or
/// "/workload/priced_with".
std::string adaptation_pointer(const Json& workload);

/// Why computation may take another time than on the cluster's accelerator, as sentences; none
/// where times were measured on it, where options say what they are on it, and where the run does
/// not take them.
std::vector<std::string> machine_warnings(const Experiment& experiment,
                                          const WorkloadFactory& workload);

}  // namespace trigram
