#pragma once

#include <optional>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"
#include "core/training_state.h"

namespace trigram {

/// The options of a low-rank average.
struct LowRank {
  std::int64_t rank = 4;
  bool error_feedback = true;
  bool warm_start = true;
  AllreduceSpec allreduce = {};
  /// Codec of the factors, which a coded scatter-reduce then averages in place of the allreduces.
  std::optional<CodecSpec> codec = {};
};

/// Computes an approximation of the mean over the ranks, the same on all of them. M_i = x + e_i is
/// taken as a nearly square matrix. The approximation is the projection of the mean of all M_i on
/// `rank` columns, which come from one power iteration (PowerSGD, Vogels et al., arXiv 1905.13727,
/// Algorithms 1 and 2). It takes two allreduces:
///
///   P = orthonormalise(mean_j M_j Q);  Q = mean_j M_j^T P;  x = P Q^T;  e_i = M_i - x
///
/// With a warm start, a step begins with the Q of the previous step. Otherwise, and in the first
/// step, Q is drawn at random, the same on all ranks. A random direction replaces a column of P
/// that depends linearly on the columns before it (Dependent::is_replaced). A tensor that is not
/// longer than P and Q together is averaged without approximation; the priced length decides if the
/// tensor has one. If the factors are encoded, P is the result of the codes, and e_i includes their
/// errors. `state` keeps Q and e.
Exchange low_rank_average(const LowRank& options, std::uint64_t seed,
                          const TrainingState& state = {});

}  // namespace trigram
