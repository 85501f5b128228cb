#pragma once

#include <vector>

#include "core/context.h"
#include "core/workloads/registry.h"
#include "netmodels/cluster.h"

namespace trigram {

/// The measured time of a training step without communication, and the costs from which the
/// simulator computes the time of that step.
struct StepProbe {
  double seconds = 0;       // quantile `quantile_level` of the step times
  std::vector<Cost> costs;  // costs of the operations of one step
};
/// Trains on this rank alone for one warm-up step and `steps` measured steps. `workload` must have
/// values.
StepProbe probe_step(const Context& ctx, const WorkloadFactory& workload, int steps,
                     double quantile_level);

/// Finds the arithmetic rate, in FLOP/s, at which the simulator predicts the measured time of the
/// step; all other properties are taken from `accelerator`. Throws std::runtime_error if the
/// predicted memory traffic and overheads alone take longer than the step.
double flop_rate(const StepProbe& step, Accelerator accelerator);

}  // namespace trigram
