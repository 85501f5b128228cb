#pragma once

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/primitives/primitives.h"

// Exchanges that replace a tensor by its mean over the ranks.

namespace trigram {

/// How an algorithm encodes the tensors that it exchanges. The exchanges below keep the residuals
/// of error feedback from step to step.
struct Coding {
  CodecSpec codec;
  bool error_feedback = false;
  std::uint64_t seed = 0;
  // Only for the coded scatter-reduce. Shares by bandwidth need the second phase `direct`.
  SecondPhase phase2 = SecondPhase::allgather;
  Shares shares = Shares::equal;
  TrainingState state = {};  // keeps the residuals
};

/// Averages by an allreduce (`c_fp_s`).
Exchange full_average(const AllreduceSpec& algorithm);

/// Averages by a coded scatter-reduce (`c_lp_s`, or `c_lp_s_by_share` with the shares of
/// bandwidth_shares.h).
Exchange coded_average(const Coding& coding);

/// Averages by sending every rank's code to every rank (`c_lp_gather`).
Exchange gathered_average(const Coding& coding);

/// Averages by a ring that encodes every partial sum anew (`c_lp_ring`), without error feedback.
Exchange coded_ring_average(const CodecSpec& codec, std::uint64_t seed);

/// Averages by merging all ranks' codes up a tree (`c_lp_tree`).
Exchange tree_average(const Coding& coding);

}  // namespace trigram
