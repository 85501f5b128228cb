#pragma once

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/primitives/primitives.h"

// Exchanges that replace a tensor by its mean over the ranks.

namespace trigram {

/// How an algorithm encodes what it exchanges. The exchanges below keep the residuals of error
/// feedback from step to step.
struct Coding {
  CodecSpec codec;
  bool error_feedback = false;
  std::uint64_t seed = 0;
  SecondPhase phase2 = SecondPhase::allgather;  // only for the coded scatter-reduce
};

/// By an allreduce (`c_fp_s`).
Exchange full_average(const AllreduceSpec& algorithm);

/// By coded scatter-reduce (`c_lp_s`).
Exchange coded_average(const Coding& coding);

/// Every rank's code goes to every rank (`c_lp_gather`).
Exchange gathered_average(const Coding& coding);

/// All ranks' codes are merged up a tree (`c_lp_tree`).
Exchange tree_average(const Coding& coding);

}  // namespace trigram
