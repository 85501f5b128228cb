#pragma once

#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/peers/peer_graph.h"
#include "algorithms/primitives/error_feedback.h"
#include "core/codec.h"

// The four synchronous primitives of BAGUA (arXiv 2107.01499, section 3) and variants of them. The
// names are BAGUA's: c and d stand for centralised and decentralised, fp and lp for full and low
// precision, and s for synchronous. All primitives average in place over the ranks of ctx.comm. Q
// is the codec, S is the size of x in bytes, C is the size of its code, and d is the number of
// peers. Bytes per rank and call:
//
//   c_fp_s   2(P-1)/P S     x_i = mean of all x_j
//   c_lp_s   2(P-1)/P C     x_i = Q(mean of all Q(x_j)), chunk by chunk
//   d_fp_s   d S            x_i = w_ii x_i + sum over peers j of w_ij x_j
//   d_lp_s   d C            x_i = w_ii Q(x_i) + sum over peers j of w_ij Q(x_j)
//
// push_sum is the primitive of stochastic gradient push, whose graphs may be directed.

namespace trigram {

/// `count` uninitialised wires for codes of `x`.
std::vector<Tensor> empty_wires(Context ctx, const Codec& codec, const Tensor& x,
                                std::size_t count);

void c_fp_s(Context ctx, const Tensor& x, const AllreduceSpec& algorithm);

/// How the owners of the chunks send their encoded means to all ranks: in one batch of P-1 messages
/// (as the paper describes it), or in P-1 stages around a ring (an allgather, as in the paper's
/// implementation). Bytes and results are the same.
enum class SecondPhase { direct, allgather };

/// Scatter-reduce: every rank sends its encoded chunk j to rank j, which averages the decoded
/// chunks and sends the encoded mean to all ranks. Each element is encoded twice, whatever P is.
/// Every rank, including the chunk's owner, ends with the decoded mean.
///
/// With `feedback`, both encodings have error feedback (as in 1-bit Adam, arXiv 2102.02888).
void c_lp_s(Context ctx, const Tensor& x, Codec& codec, SecondPhase phase2 = SecondPhase::allgather,
            const Feedback* feedback = nullptr);

/// How much of a vector each rank averages as the owner of a chunk: the same for all, or shares by
/// the bandwidths of the ranks' NICs (bandwidth_shares.h).
enum class Shares { equal, by_bandwidth };

/// A scatter-reduce as in `c_lp_s` in which rank i owns the share `shares[i]` of x, and both phases
/// run at the same time: x is cut into kScatterSegments segments, and while the chunks of one
/// segment go to their owners, the means of the segment before go to all ranks directly. So the
/// receiving side of owners and the sending side of other ranks are busy together, as the model of
/// bandwidth_shares.h assumes. The sums are again in rank order.
void c_lp_s_by_share(Context ctx, const Tensor& x, Codec& codec, std::span<const double> shares,
                     const Feedback* feedback = nullptr);
inline constexpr std::size_t kScatterSegments = 16;
/// The residuals for `c_lp_s_by_share`, which `state` keeps.
Feedback feedback_by_share(Context ctx, const Tensor& x, std::span<const double> shares,
                           const TrainingState& state = {});

/// x = the mean of all Q(x_j), for small codes that cannot be added up, such as sparse ones: every
/// rank's code goes to every rank, (P-1) C bytes, and every rank decodes them in rank order.
/// `residual` is that of error feedback for the rank's own code; null: no error feedback.
void c_lp_gather(Context ctx, const Tensor& x, Codec& codec, const Tensor* residual = nullptr);

/// x = 1/P of the sum of all x_j, around a ring that encodes every partial sum anew: a rank sends
/// Q(its part + what arrived), decodes what it receives, and adds in f32. The owner of a part then
/// sends the code of the part's mean around the ring (INTELLECT-1, Jaghouar et al., arXiv
/// 2412.01152; PrimeIntellect-ai/prime, csrc/collectives.cpp at 5cc57a0). Losses of codes add up
/// over the P-1 hops. 2(P-1)/P C.
void c_lp_ring(Context ctx, const Tensor& x, Codec& codec);

/// x = 1/P of the sum of all Q(x_j), where every partial sum is encoded again, for codecs that keep
/// some elements and drop the others. Codes are merged up a binomial tree, and the code of the
/// whole sum is broadcast down the tree: C bytes along each of its P-1 edges in either direction.
/// Every rank ends with the same x.
///
/// With a `residual` e of error feedback, an element that the tree drops returns to it: it keeps
/// all elements of x_j + e_j except those that are both in the rank's own code and in the code of
/// the whole sum.
void c_lp_tree(Context ctx, const Tensor& x, Codec& codec, const Tensor* residual = nullptr);

void d_fp_s(Context ctx, const Tensor& x, const Peers& peers);

void d_lp_s(Context ctx, const Tensor& x, const Peers& peers, Codec& codec);

/// x_i = the sum of x_j / (1 + number of ranks that j sends to), over i itself and all j from which
/// i receives. Every rank divides its x equally among itself and its receivers, so the sum over all
/// ranks is conserved, whatever the graph (Kempe et al., FOCS 2003). The weights of the peers are
/// not used. d S bytes.
void push_sum(Context ctx, const Tensor& x, const Peers& peers);

/// x_i = the sum of x_j over all j from which i receives, without i itself. Sends d S bytes.
void sum_of_sent(Context ctx, const Tensor& x, const Peers& peers);

/// Sends `out` to every peer. Returns the tensors that the peers send, one per source, each as long
/// as `out`.
std::vector<Tensor> exchange_with(Context ctx, const Tensor& out, const Peers& peers);

}  // namespace trigram
