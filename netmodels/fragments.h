#pragma once

#include <cstddef>
#include <vector>

#include "netmodels/cluster.h"

namespace trigram {

/// Bytes of payload per second that each node's NIC moves in each direction.
std::vector<double> nic_bandwidths(const Cluster& cluster);

/// The length of the fragments in which MPI sends messages over such NICs. Messages of two ranks
/// that go both ways share a connection, on which short messages, such as MPI's own answers, must
/// not wait behind a whole long one. So a fragment takes about 1 ms.
std::size_t fragment_bytes(const std::vector<double>& nic_Bps);
/// How much of a message is in a fragment, beside MPI's header, that MPI sends without asking.
std::size_t eager_bytes(const std::vector<double>& nic_Bps);

}  // namespace trigram
