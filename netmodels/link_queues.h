#pragma once

#include <span>

#include "netmodels/network/network.h"

namespace trigram {

/// A connection with bytes to send.
struct BulkFlow {
  int source = 0, destination = 0;
  double unsent_bytes = 0;  // handed over by the application, and not yet on the wire
  double window_bytes = 0;  // the most that it has in the network at a time
};

/// Seconds that a packet which is sent now from `source` to `destination` waits in the queues of
/// its links, which serve bytes in the order of their arrival.
///
/// TCP fills its window whatever the links carry. Of a window W, the bandwidth B of the narrowest
/// link moves B R in a round trip R; the rest, W - B R, waits in the queue of that link, or less if
/// less is left to send. The flows of a link share it evenly. The narrowest link of a flow is that
/// where its share is smallest; of several, the first one. Nothing limits the length of a queue, so
/// that windows do (`window` of Tcp). Links that vary have `factor` times their described
/// bandwidth.
double queueing_s(const Network& network, std::span<const BulkFlow> flows, int source,
                  int destination, double factor = 1);

}  // namespace trigram
