#pragma once

#include <cstdint>
#include <functional>

#include "core/communicator.h"

namespace trigram {

/// Calls `sent(peer, bytes)` for each message that `rank` sends when a collective runs as the
/// simplest algorithm that moves the fewest bytes. Native collectives, whose messages are
/// invisible, are counted this way. With n priced bytes of x:
///
///   reduce_scatter, allgather   P-1 parts to rank + 1 around the ring: (P-1)/P n
///   allreduce                   both, one after the other: 2(P-1)/P n
///   broadcast                   x once to rank + 1, except from the rank before the root: n
///   all_to_all                  one part to each other rank: (P-1)/P n
void ring_messages(const Collective& collective, int rank, int size,
                   const std::function<void(int peer, std::uint64_t bytes)>& sent);

}  // namespace trigram
