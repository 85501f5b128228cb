#pragma once

#include <cstddef>
#include <vector>

#include "netmodels/cluster.h"

namespace trigram {

/// Payload bytes per second of each node's NIC, in each direction.
std::vector<double> nic_bandwidths(const Cluster& cluster);

/// The length of the fragments in which MPI sends messages over such NICs. All messages between two
/// ranks share a connection, on which short messages, such as MPI's own replies, must not wait
/// behind a whole long message. A fragment therefore takes about 1 ms.
std::size_t fragment_bytes(const std::vector<double>& nic_Bps);
/// Payload of one eager fragment, excluding MPI's header.
std::size_t eager_bytes(const std::vector<double>& nic_Bps);

}  // namespace trigram
