#pragma once

#include "algorithms/collectives/collectives.h"

namespace trigram {

/// Runs several rings at once, each over its own part of x (a channel). Every rank puts the
/// transfers of all channels into one batch. If all ranks of the layout take part, channel c visits
/// the workers of every node beginning with the c-th worker. So every channel enters and leaves a
/// node through different workers, and through different NICs if each worker has its own. The cost
/// on a flat network is that of one ring: 2(P-1)(a + n/P b).
///
/// Chunk j of a channel is summed in the order of that channel's ring, beginning with the rank
/// after the chunk's owner. With one channel the result is bitwise equal to that of ring_allreduce.
void channelled_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Rings& rings);

}  // namespace trigram
