#pragma once

#include <cstdint>

#include "experiments/config/experiment.h"

namespace trigram {

/// The experiment on another number of nodes, as a new generation of its job makes it. Of the
/// events of `failures`, it has the freezes and partitions whose ranks, nodes and links it has.
/// Throws ConfigError if the cluster cannot have this number of nodes.
Experiment with_nodes(const Experiment& experiment, std::int64_t nodes);

}  // namespace trigram
