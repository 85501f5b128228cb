#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "algorithms/collectives/nccl_choice.h"
#include "core/context.h"

// Collectives, written once on top of Communicator::transfer, for any number of ranks P and any
// length n, including 0 and 1. All ranks of ctx.comm call the same collective with equal lengths. A
// collective works in place on `x` unless its comment says otherwise. Formulas such as 2(P-1)(a +
// n/P b) give the time on a flat network with a latency of a seconds and b seconds per byte, for n
// bytes. Tensor::parts divides the lengths, so "n/P" means ceil(n/P).
//
// Each algorithm fixes the order of its sums, so the results are bitwise equal in every world.
// `avg` sums first and scales once.

namespace trigram {

/// `native` uses the world's own collective (Communicator::native), or a ring if the world has none
/// for these ranks and operands. `nccl` is a ring or a double tree, whichever NCCL's cost model
/// selects for the priced bytes of the vector on this machine (nccl_choice.h).
enum class AllreduceAlgorithm { ring, recursive_doubling, rabenseifner, double_tree, nccl, native };

/// How the rings of an allreduce run (see `channelled_ring_allreduce`). With segments, a vector is
/// reduced segment by segment; each segment is small enough to stay in a processor's caches between
/// its reduce-scatter and its allgather.
struct Rings {
  std::int64_t channels = 1;      // number of concurrent rings; each has its own part of the vector
  std::size_t slice_bytes = 0;    // longest message, in bytes; longer chunks are cut; 0: no cutting
  std::size_t segment_bytes = 0;  // longest segment of the vector, in bytes; 0: the whole vector
  bool operator==(const Rings&) const = default;
};

/// An allreduce algorithm with its options.
struct AllreduceSpec {
  AllreduceSpec(AllreduceAlgorithm name = AllreduceAlgorithm::ring, Rings ring_options = {})
      : algorithm(name), rings(ring_options) {}
  AllreduceSpec(NcclOptions options) : algorithm(AllreduceAlgorithm::nccl), nccl(options) {}
  AllreduceAlgorithm algorithm;
  Rings rings;       // used by `ring`
  NcclOptions nccl;  // used by `nccl`
};

/// x = reduction of all ranks' x, on every rank, by the given algorithm.
void allreduce(Context ctx, const Tensor& x, Reduce op, const AllreduceSpec& spec);

/// Ring: P-1 steps of reduce-scatter, P-1 of allgather (Patarasuk and Yuan, JPDC 2009).
/// 2(P-1)(a + n/P b).
void ring_allreduce(Context ctx, const Tensor& x, Reduce op);

/// Several rings at once, each over its own part of x (a channel). Every rank puts the transfers of
/// all channels into one batch. If all ranks of the layout take part, channel c visits the workers
/// of every node beginning with the c-th worker. So every channel enters and leaves a node through
/// different workers, and through different NICs if each worker has its own. The time on a flat
/// network is that of one ring: 2(P-1)(a + n/P b).
///
/// Chunk j of a channel is summed in the order of that channel's ring, beginning with the rank
/// after the chunk's owner. With one channel the result is bitwise equal to the result of
/// ring_allreduce.
void channelled_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Rings& rings);

/// Pairwise exchange of whole vectors over lg P rounds; ranks beyond the largest power of two are
/// folded onto partners (Fold in halving_doubling.h; Thakur, Rabenseifner, Gropp, IJHPCA 2005). lg
/// P (a + n b).
void recursive_doubling_allreduce(Context ctx, const Tensor& x, Reduce op);

/// Recursive-halving reduce-scatter, then recursive-doubling allgather, with the same folding
/// (Rabenseifner, ICCS 2004). 2 lg P a + 2 n (P-1)/P b.
void rabenseifner_allreduce(Context ctx, const Tensor& x, Reduce op);

/// Uses the collective of the world's own communication library, with the library's order of
/// summation. Uses ring_allreduce if Communicator::native refuses, for example for subsets of the
/// library's ranks.
void native_allreduce(Context ctx, const Tensor& x, Reduce op);

/// Rank r ends with part(r, P) of the reduction in its own part(r, P); the rest of x is scratch.
void ring_reduce_scatter(Context ctx, const Tensor& x, Reduce op);  // (P-1)(a + n/P b)
void recursive_halving_reduce_scatter(Context ctx, const Tensor& x,
                                      Reduce op);  // lg P a + n(P-1)/P b

/// Rank r contributes part(r, P) of its x; all ranks end with all parts.
void ring_allgather(Context ctx, const Tensor& x);                // (P-1)(a + n/P b)
void recursive_doubling_allgather(Context ctx, const Tensor& x);  // lg P a + n(P-1)/P b

/// Allgather of P tensors of any lengths: rank r contributes parts[r].
void ring_allgather(Context ctx, std::span<const Tensor> parts);
/// Allgather of P tensors in one batch, in which rank r sends parts[r] to every other rank: a +
/// (P-1) n b, where n is the longest part.
void direct_allgather(Context ctx, std::span<const Tensor> parts);

/// All ranks end with root's x. Binomial tree: ceil(lg P)(a + n b).
void binomial_broadcast(Context ctx, const Tensor& x, int root);
/// Chain from root. x is cut into `segments` pieces, and each rank passes a piece on as soon as it
/// has received it: (P-1) a + (P-2+segments) n/segments b.
void pipelined_broadcast(Context ctx, const Tensor& x, int root, int segments);
/// A pipelined broadcast of several tensors, each of which is one piece.
void pipelined_broadcast(Context ctx, std::span<const Tensor> pieces, int root);

/// Root ends with the reduction; elsewhere x is scratch. Binomial tree: ceil(lg P)(a + n b).
void binomial_reduce(Context ctx, const Tensor& x, Reduce op, int root);
/// A binomial reduction with another operation than Reduce: `merge` combines `arrived`, which a
/// child sent and which is as long as x, into x. It is called on the stream of ctx, for the nearest
/// child first.
void binomial_reduce(Context ctx, const Tensor& x, int root,
                     const std::function<void(const Tensor& arrived)>& merge);

/// A reduction by a chain that starts at the rank after the root, in `segments` pieces; sums are
/// formed in the order of the chain. (P-1) a + (P-2+segments) n/segments b.
void pipelined_reduce(Context ctx, const Tensor& x, Reduce op, int root, int segments);
/// A pipelined reduction of several tensors, each of which is one piece.
void pipelined_reduce(Context ctx, std::span<const Tensor> pieces, Reduce op, int root);

/// Sends send[j] to rank j and receives recv[j] from rank j, all in one batch, like a group of NCCL
/// sends and receives: a + (P-1) n b, where n is the longest tensor. The rank's own tensor is
/// copied.
void direct_alltoall(Context ctx, std::span<const Tensor> send, std::span<const Tensor> recv);
/// A direct_alltoall of `send` and `recv` and a direct_allgather of `parts` in one batch, so that
/// both share the links. Either may be left out, by empty lists, on all ranks alike.
void direct_alltoall_and_allgather(Context ctx, std::span<const Tensor> send,
                                   std::span<const Tensor> recv, std::span<const Tensor> parts);

}  // namespace trigram
