#pragma once

#include "algorithms/collectives/collectives.h"

namespace trigram {

/// Several rings at once, over so many parts of x, the channels; every rank has a batch for them
/// together. Where all ranks of the layout take part, channel c visits the workers of every node
/// from the c-th on, so that each channel enters and leaves a node by other workers, and by other
/// NICs if each worker has its own. Like a ring, else: 2(P-1)(a + n/P b) on a flat network.
///
/// Sums: chunk j of a channel is formed in the order of that channel's ring, from the rank after
/// its owner's; so with one channel as by ring_allreduce, to the last bit.
void channelled_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Rings& rings);

}  // namespace trigram
