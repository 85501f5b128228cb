#pragma once

#include <vector>

#include "core/context.h"

namespace trigram {

/// When a worker was done with each of its micro-batches, in seconds since its last optimizer step,
/// and what the exchange took it thereafter, its waiting for others included; over some steps.
struct ComputeTimes {
  std::vector<double> done_s;      // step by step, `micro_batches` of each
  std::vector<double> exchange_s;  // of each step
};

/// After which time of a step workers had best stop computing: DropCompute's automatic threshold
/// (arXiv 2306.10598), of the times of all workers. With T_in(m) when worker n is done with its
/// m-th micro-batch of step i, T_i when the last is done with all, and T_c what the exchange takes
/// who comes to it last, it maximises the mean over the steps of
///
///   (T_i + T_c) / (min(th, T_i) + T_c)  x  the share of micro-batches that are done by th
///
/// among all th = T_in(m); the smallest, if several do.
double best_threshold(const std::vector<ComputeTimes>& workers, int micro_batches);

/// The same on all ranks, of what each has recorded. Collective, on the control plane: every rank
/// reports each of its numbers to rank 0, which answers with one.
double agree_on_threshold(Context ctx, const ComputeTimes& own, int micro_batches);

}  // namespace trigram
