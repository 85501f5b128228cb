#pragma once

#include <memory>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// The network of a cluster: its nodes, their NICs, and the topology that joins them.
///
/// A message between nodes passes a NIC, the links of the topology, and a NIC; one inside a node
/// the ports of both workers, and the host bridge between them where there is one. Without
/// GPUDirect a message between nodes passes port and host bridge before the first NIC and after the
/// second one. The latencies of `inter` and `intra`, which are end to end, stand at the link by
/// which a message leaves a NIC or a worker; to them come those of the topology's links. A message
/// that is staged in the hosts' memory has both.
std::unique_ptr<const Network> make_network(const Cluster& cluster);

}  // namespace trigram
