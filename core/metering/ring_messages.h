#pragma once

#include <cstdint>
#include <functional>

#include "core/communicator.h"

namespace trigram {

/// What `rank` sends when a collective is made in the plainest way that moves the fewest bytes: by
/// which native collectives, whose messages nobody sees, are counted. With n priced bytes of x:
///
///   reduce_scatter, allgather   P-1 parts to rank + 1 around the ring: (P-1)/P n
///   allreduce                   both, one after the other: 2(P-1)/P n
///   broadcast                   x once to rank + 1, but for the last after the root: n
///   all_to_all                  a part to each other rank: (P-1)/P n
///
/// Calls `sent(peer, bytes)` for each message.
void ring_messages(const Collective& collective, int rank, int size,
                   const std::function<void(int peer, std::uint64_t bytes)>& sent);

}  // namespace trigram
