#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "algorithms/collectives/nccl_choice.h"
#include "core/context.h"

// Collectives written once over Communicator::transfer, for any number of ranks P and any length n,
// 0 and 1 included. All ranks of ctx.comm call the same collective with equal lengths; every one
// works in place on `x` unless it says otherwise. Costs are for a flat network with latency a,
// seconds per byte b; n in bytes. Lengths are cut by Tensor::parts, so "n/P" means ceil(n/P).
//
// Sums are formed in the order that the algorithm states, so results are the same bits in every
// world; `avg` sums first and scales once.

namespace trigram {

/// `native` is the world's own (Communicator::native), and a ring where the world has none for the
/// ranks and operands at hand. `nccl` is a ring or a double tree, whichever NCCL's cost model takes
/// for the vector (nccl_choice.h).
enum class AllreduceAlgorithm { ring, recursive_doubling, rabenseifner, double_tree, nccl, native };

/// How the rings of an allreduce run; see channels.h. A vector in segments goes round one segment
/// after the other, each small enough to stay in a processor's caches between its two passes;
/// sums are formed segment by segment.
struct Rings {
  std::int64_t channels = 1;      // rings at once, over so many parts of the vector
  std::size_t slice_bytes = 0;    // of a message at most: chunks are cut; 0: never
  std::size_t segment_bytes = 0;  // of the vector at a time, at most; 0: all
  bool operator==(const Rings&) const = default;
};

/// An algorithm, and its options.
struct AllreduceSpec {
  AllreduceSpec(AllreduceAlgorithm which = AllreduceAlgorithm::ring, Rings its_rings = {})
      : algorithm(which), rings(its_rings) {}
  AllreduceSpec(NcclOptions options) : algorithm(AllreduceAlgorithm::nccl), nccl(options) {}
  AllreduceAlgorithm algorithm;
  Rings rings;       // of `ring`
  NcclOptions nccl;  // of `nccl`
};

/// x = reduction of all ranks' x, on every rank, by the given algorithm.
void allreduce(Context ctx, const Tensor& x, Reduce op, const AllreduceSpec& spec);

/// Ring: P-1 steps of reduce-scatter, P-1 of allgather (Patarasuk and Yuan, JPDC 2009).
/// 2(P-1)(a + n/P b).
void ring_allreduce(Context ctx, const Tensor& x, Reduce op);

/// Pairwise exchange of whole vectors over log2 P rounds; ranks beyond the largest power of two are
/// folded onto partners before and after (Thakur, Rabenseifner, Gropp, IJHPCA 2005). lg P (a + n
/// b).
void recursive_doubling_allreduce(Context ctx, const Tensor& x, Reduce op);

/// Recursive-halving reduce-scatter, then recursive-doubling allgather, folded like the above
/// (Rabenseifner, ICCS 2004). 2 lg P a + 2 n (P-1)/P b.
void rabenseifner_allreduce(Context ctx, const Tensor& x, Reduce op);

/// A double binary tree or one ring: what NCCL takes for the priced bytes of x on this machine.
void nccl_allreduce(Context ctx, const Tensor& x, Reduce op, const NcclOptions& options = {});

/// By the library below the world, in the library's order of summation; ring_allreduce where it has
/// none: for subsets of its ranks, and what else Communicator::native refuses.
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
/// The same in one batch, in which rank r sends parts[r] to every other: a + (P-1) n b, with n the
/// longest of the parts.
void direct_allgather(Context ctx, std::span<const Tensor> parts);

/// All ranks end with root's x. Binomial tree: ceil(lg P)(a + n b).
void binomial_broadcast(Context ctx, const Tensor& x, int root);
/// Chain from root in `segments` pieces, each passed on as soon as it is there:
/// (P-1) a + (P-2+segments) n/segments b.
void pipelined_broadcast(Context ctx, const Tensor& x, int root, int segments);
/// Of several tensors, each a piece of the same chain.
void pipelined_broadcast(Context ctx, std::span<const Tensor> pieces, int root);

/// Root ends with the reduction; elsewhere x is scratch. Binomial tree: ceil(lg P)(a + n b).
void binomial_reduce(Context ctx, const Tensor& x, Reduce op, int root);
/// The same up the tree for what operators do not say: `merge` takes what a child has sent, as long
/// as x, into x. Called for the children in the order of their distance, on the stream of ctx.
void binomial_reduce(Context ctx, const Tensor& x, int root,
                     const std::function<void(const Tensor& arrived)>& merge);

/// The same by a chain from the rank after the root, in `segments` pieces; sums are formed in the
/// order of the chain. (P-1) a + (P-2+segments) n/segments b.
void pipelined_reduce(Context ctx, const Tensor& x, Reduce op, int root, int segments);
/// Of several tensors, each a piece of the same chain.
void pipelined_reduce(Context ctx, std::span<const Tensor> pieces, Reduce op, int root);

/// send[j] goes to rank j, recv[j] comes from rank j, all in one batch, as a group of sends and
/// receives of NCCL: a + (P-1) n b, with n the longest. The own tensor is copied.
void direct_alltoall(Context ctx, std::span<const Tensor> send, std::span<const Tensor> recv);

}  // namespace trigram
