#pragma once

#include <memory>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// The network of a cluster: its nodes, their NICs, and the topology that connects them.
///
/// A message between nodes passes a NIC, links of the topology, and a NIC. A message inside a node
/// passes the ports of both workers, and the host bridge between them if there is one. If messages
/// are staged in host memory (IntraSpec::staged), a message between nodes also passes port and host
/// bridge before the first NIC and after the second. The latencies of `inter` and `intra` are end
/// to end: the whole latency belongs to the link by which a message leaves a NIC or a worker. The
/// latencies of the topology's links are added. A staged message has both latencies.
///
/// For a part of a cluster, the result is `network_of_part` (netmodels/part_of_cluster.h).
std::unique_ptr<const Network> make_network(const Cluster& cluster);

}  // namespace trigram
