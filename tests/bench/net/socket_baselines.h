#pragma once

#include <functional>
#include <string>

#include "tests/bench/net/stream_of_messages.h"

namespace trigram::net {

/// One blocking socket, without headers: the receiver knows all sizes.
void send_plainly(const Stream& stream, int socket);
double receive_plainly(const Stream& stream, int socket);

/// What NCCL's own transport does over several sockets (NCCL_SOCKET_NTHREADS = number of sockets),
/// except that the receiver knows all sizes, so no sizes are sent: each message is cut into pieces
/// of at least 64 KiB, one per socket, which are distributed round-robin; each socket has a thread.
/// At most kWindow messages are in progress.
void send_over_threads(const Stream& stream, const std::vector<int>& sockets);
double receive_over_threads(const Stream& stream, const std::vector<int>& sockets);

}  // namespace trigram::net
