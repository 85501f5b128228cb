#pragma once

#include "algorithms/collectives/collectives.h"

namespace trigram {

/// Several rings at once, over so many parts of x, the channels; every rank has a batch for them
/// together. Where all ranks of the layout take part, channel c visits the workers of every node
/// from the c-th on, so that each channel enters and leaves a node by other workers, and by other
/// NICs if each worker has its own. Like a ring, else: 2(P-1)(a + n/P b) on a flat network.
///
/// With W chunks in flight, W dividing P (or what of it does: the greatest common divisor), W ranks
/// that follow one another pass on W chunks of W stages before the first of them takes in more, so
/// what is between two such groups has W chunks in flight: a link of long latency between nodes of
/// W workers is waited for P/W times less often. Within the groups chunks come in one by one hop:
///
///   2(P-1)/W (a + n W/P b + (W-1)(a' + n W/P b'))  about, with a', b' those inside the nodes
///
/// Where a' is a, as between single workers of nodes, or where a is short beside n/P b, there is
/// nothing to hide, and one chunk in flight is the fastest. The chain of hops of a chunk is why no
/// order of sending could do better than 2(P-1) a there.
///
/// Sums: chunk j of a channel is formed in the order of that channel's ring, from the rank after
/// its owner's; so with one channel, whatever W is, as by ring_allreduce, to the last bit.
void channelled_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Rings& rings);

}  // namespace trigram
