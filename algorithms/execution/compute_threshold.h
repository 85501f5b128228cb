#pragma once

#include <vector>

#include "core/context.h"

namespace trigram {

/// Measured times of a worker over some steps, in seconds: the end of each micro-batch, counted
/// from the worker's last optimizer step, and the duration of the exchange after the last
/// micro-batch, including the wait for other workers.
struct ComputeTimes {
  std::vector<double> end_s;       // step by step, `micro_batches` values each
  std::vector<double> exchange_s;  // one value per step
};

/// The time within a step after which workers should not begin another micro-batch: DropCompute's
/// automatic threshold (arXiv 2306.10598), computed from the times of all workers. It maximises the
/// mean over the steps of
///
///   (T + T_c) / (T(th) + T_c)  x  the share of micro-batches that are done
///
/// T is the time at which the last worker has computed all its micro-batches, and T(th) the same
/// time if each worker stops after the first micro-batch that ends later than th. T_c is the
/// duration of the exchange for the worker that reaches it last. (The paper uses min(th, T) instead
/// of T(th), as if workers stopped within a micro-batch.) The threshold lies halfway between the
/// two micro-batch ends that it separates; it is infinite if dropping nothing is best.
double best_threshold(const std::vector<ComputeTimes>& workers, int micro_batches);

/// The threshold computed from the times of all ranks, the same on all ranks. Collective, on the
/// control plane: every rank reports each of its times to rank 0, which answers with one number.
double agree_on_threshold(Context ctx, const ComputeTimes& own, int micro_batches);

}  // namespace trigram
