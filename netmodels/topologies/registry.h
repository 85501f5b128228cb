#pragma once

#include <vector>

#include "netmodels/topologies/topology.h"

namespace trigram {

// Each file of this folder defines one of these functions.
TopologyEntry flat_entry();
TopologyEntry fat_tree_entry();
TopologyEntry dragonfly_entry();
TopologyEntry torus_entry();
TopologyEntry hammingmesh_entry();
TopologyEntry wan_entry();

/// All kinds of topologies.
const std::vector<TopologyEntry>& topologies();
const TopologyEntry& topology_of(const TopologySpec& spec);

/// A topology in a configuration: {"kind": ..., options}, resolved strictly. A kind without options
/// may be given by its name alone.
OptionType<TopologySpec> topology_kind();

}  // namespace trigram
