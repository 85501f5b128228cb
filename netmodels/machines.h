#pragma once

#include <memory>
#include <optional>

#include "core/machine_model.h"
#include "netmodels/cluster.h"

namespace trigram {

/// Creates the machine model of a cluster. The compute factor of a rank combines
/// `worker_variation`, its factor in `slow_workers` and a draw of `run_times` for each step. Before
/// a step, all ranks are delayed by their `skew`, and the `stragglers` of the step by their delay.
std::unique_ptr<MachineModel> make_machine_model(const Cluster& cluster);

/// The number of steps after which the speeds and delays of all ranks repeat; empty if they are
/// drawn for every step.
std::optional<long> machine_period(const Cluster& cluster);

}  // namespace trigram
