#pragma once

#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/peers/peer_graph.h"
#include "algorithms/primitives/error_feedback.h"
#include "core/codec.h"

// The four synchronous primitives of BAGUA (arXiv 2107.01499, section 3), centralised or
// decentralised, full or low precision, and c_lp_gather and c_lp_tree beside them. All average, in
// place, over the ranks of ctx.comm. Q is the codec. S is the size of x in bytes, C that of its
// code; per rank and call:
//
//   c_fp_s   2(P-1)/P S     x_i = mean of all x_j
//   c_lp_s   2(P-1)/P C     x_i = Q(mean of all Q(x_j)), chunk by chunk
//   d_fp_s   (peers) S      x_i = w_ii x_i + sum over peers j of w_ij x_j
//   d_lp_s   (peers) C      x_i = w_ii Q(x_i) + sum over peers j of w_ij Q(x_j)
//
// and push_sum, the primitive of stochastic gradient push, which needs no symmetry.

namespace trigram {

void c_fp_s(Context ctx, const Tensor& x, const AllreduceSpec& algorithm);

/// How the owners of the chunks hand their coded means to all: in one batch of P-1 messages to
/// everybody (as the paper describes it), or in P-1 stages around a ring (an allgather, as the
/// paper's implementation has it). The same bytes, the same result.
enum class SecondPhase { direct, allgather };

/// Scatter-reduce: chunk j of every rank goes, coded, to rank j, which averages the decoded chunks
/// and sends the code of the mean to all. Two codings per element whatever P is; every rank, the
/// chunk's owner included, ends with the decoded mean.
///
/// With `feedback`, both codings have error feedback (as in 1-bit Adam, arXiv 2102.02888).
void c_lp_s(Context ctx, const Tensor& x, Codec& codec, SecondPhase phase2 = SecondPhase::allgather,
            const Feedback* feedback = nullptr);

/// x = the mean of all Q(x_j), for codes that are small but do not add up, such as sparse ones:
/// every rank's code goes to every rank, (P-1) C bytes, and all decode them in rank order.
/// `feedback` is on the rank's own code.
void c_lp_gather(Context ctx, const Tensor& x, Codec& codec, const Feedback* feedback = nullptr);

/// x = 1/P of the sum of all Q(x_j), coded anew wherever two parts of the sum meet, for codes that
/// keep some elements and leave out the others: codes are merged up a binomial tree, the last one
/// is broadcast down it, C bytes along each of its P-1 edges either way. Every rank ends with the
/// same x.
///
/// With `feedback`, what comes too late in the tree is not lost either: of x_j + e_j, the rank's
/// residual keeps all but the elements that are both in its own code and in the last one.
void c_lp_tree(Context ctx, const Tensor& x, Codec& codec, const Feedback* feedback = nullptr);

void d_fp_s(Context ctx, const Tensor& x, const Peers& peers);

void d_lp_s(Context ctx, const Tensor& x, const Peers& peers, Codec& codec);

/// x_i = sum over j, from whom i receives, and i itself, of x_j / (1 + number of ranks that j sends
/// to): every rank parts what it has equally, so the sum over all ranks stays what it is, whatever
/// the graph (Kempe et al., FOCS 2003). The weights of the peers are not used. (peers) S bytes.
void push_sum(Context ctx, const Tensor& x, const Peers& peers);

/// x_i = sum of x_j over those from whom i receives, without i. (peers) S bytes.
void sum_of_sent(Context ctx, const Tensor& x, const Peers& peers);

/// Sends `out` to every peer; what they send, as long as `out`, one tensor for each source.
std::vector<Tensor> exchange_with(Context ctx, const Tensor& out, const Peers& peers);

}  // namespace trigram
