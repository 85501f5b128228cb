#pragma once

#include <cstddef>
#include <vector>

#include "netmodels/cluster.h"

namespace trigram {

/// Payload bytes per second of every node's NIC, in each direction.
std::vector<double> nic_bandwidths(const Cluster& cluster);

/// The size in bytes of the fragments in which MPI sends messages over these NICs. All messages
/// between two ranks share a connection. The fragments are sized to take about 1 ms each, so that
/// short messages, such as MPI's own replies, do not wait behind a whole long message.
std::size_t fragment_bytes(const std::vector<double>& nic_Bps);
/// Payload of one eager fragment in bytes, excluding MPI's header.
std::size_t eager_bytes(const std::vector<double>& nic_Bps);

}  // namespace trigram
