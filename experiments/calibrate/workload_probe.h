#pragma once

#include <vector>

#include "core/context.h"
#include "core/workloads/registry.h"
#include "netmodels/cluster.h"

namespace trigram {

/// A training step of a workload with values on a single rank without communication: its time, and
/// the costs by which the simulator prices it.
struct StepProbe {
  double seconds = 0;       // the requested quantile over the steps
  std::vector<Cost> costs;  // of the operations of one step
};
StepProbe probe_step(const Context& ctx, const WorkloadFactory& workload, int steps, double share);

/// Finds the arithmetic rate for which the simulator's price of the step equals its measured time;
/// the accelerator's other properties are given. Throws std::runtime_error if memory traffic and
/// overheads alone take longer.
double flop_rate(const StepProbe& step, Accelerator accelerator);

}  // namespace trigram
