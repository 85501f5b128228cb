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

/// The time of a step after which workers had best begin no other micro-batch: DropCompute's
/// automatic threshold (arXiv 2306.10598), of the times of all workers. It maximises the mean over
/// the steps of
///
///   (T + T_c) / (T(th) + T_c)  x  the share of micro-batches that are done
///
/// where the last worker computes until T, or until T(th) if each stops after the first micro-batch
/// that ends later than th, and T_c is what the exchange takes who comes to it last. (The paper has
/// min(th, T) for T(th), as if workers stopped within a micro-batch.) In the middle between the two
/// micro-batches that it parts; infinite if it is best to drop nothing.
double best_threshold(const std::vector<ComputeTimes>& workers, int micro_batches);

/// The same on all ranks, of what each has recorded. Collective, on the control plane: every rank
/// reports each of its numbers to rank 0, which answers with one.
double agree_on_threshold(Context ctx, const ComputeTimes& own, int micro_batches);

}  // namespace trigram
