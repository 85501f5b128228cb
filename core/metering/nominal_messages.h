#pragma once

#include <cstdint>
#include <functional>

#include "core/communicator.h"

namespace trigram {

/// Calls `sent(peer, bytes)` for each message that `rank` would send if the collective ran as a
/// simple algorithm that moves the fewest bytes. A native collective hides its messages, so these
/// are counted instead. In the table, P is the number of ranks, n is the size of x in priced bytes,
/// and the last column is the number of bytes that each rank sends:
///
///   reduce_scatter, allgather   P-1 parts of x to rank + 1 around the ring       (P-1)/P n
///   allreduce                   a reduce_scatter, then an allgather              2(P-1)/P n
///   broadcast                   x to rank + 1, except from the rank before root  n
///   all_to_all                  one part of x to each other rank                 (P-1)/P n
void nominal_messages(const Collective& collective, int rank, int size,
                      const std::function<void(int peer, std::uint64_t bytes)>& sent);

}  // namespace trigram
