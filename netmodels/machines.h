#pragma once

#include <memory>
#include <optional>

#include "core/machine_model.h"
#include "netmodels/cluster.h"

namespace trigram {

/// Creates the machine model of a cluster. All workers differ by `worker_variation`; ranks in
/// `slow_workers` are slower by their factor in every step, too; `run_times` are drawn for each
/// rank and step. The `stragglers` drawn for a step, and all ranks by their `skew`, are delayed
/// before it.
std::unique_ptr<MachineModel> make_machine_model(const Cluster& cluster);

/// The number of steps after which the speeds and delays of all ranks repeat; empty if they are
/// drawn for every step.
std::optional<long> machine_period(const Cluster& cluster);

}  // namespace trigram
