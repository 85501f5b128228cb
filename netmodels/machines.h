#pragma once

#include <memory>
#include <optional>

#include "core/machine_model.h"
#include "netmodels/cluster.h"

namespace trigram {

/// The machines of a cluster. All differ by `worker_variation`, and ranks named in `slow_workers`
/// compute that many times more slowly besides, at every step; `run_times` are drawn for each rank
/// and step. Those drawn as `stragglers` of a step, and all by their `skew`, are held up before it.
std::unique_ptr<MachineModel> make_machine_model(const Cluster& cluster);

/// After how many steps all ranks compute at the same speeds, and are held up as long, as before;
/// empty where that is drawn for every step.
std::optional<long> machine_period(const Cluster& cluster);

}  // namespace trigram
