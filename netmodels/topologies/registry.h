#pragma once

#include <vector>

#include "netmodels/topologies/topology.h"

namespace trigram {

// One per file of this folder.
TopologyEntry flat_entry();
TopologyEntry fat_tree_entry();
TopologyEntry dragonfly_entry();
TopologyEntry torus_entry();
TopologyEntry hammingmesh_entry();
TopologyEntry wan_entry();

/// All kinds of topologies.
const std::vector<TopologyEntry>& topologies();
const TopologyEntry& topology_of(const TopologySpec& spec);

/// {"kind": ..., options}, resolved strictly; a kind without options may be written as its name.
OptionType<TopologySpec> topology_kind();

}  // namespace trigram
