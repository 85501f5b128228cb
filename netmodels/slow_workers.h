#pragma once

#include <memory>

#include "core/machine_model.h"
#include "netmodels/cluster.h"

namespace trigram {

/// The machines of a cluster: ranks named in `slow_workers` compute that many times more slowly, at
/// every step; those drawn as `stragglers` of a step are held up before it.
std::unique_ptr<MachineModel> make_machine_model(const Cluster& cluster);

}  // namespace trigram
