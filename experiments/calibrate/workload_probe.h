#pragma once

#include <vector>

#include "core/context.h"
#include "core/workloads/registry.h"
#include "netmodels/cluster.h"

namespace trigram {

/// A training step of a workload with values on a rank of its own, without communication: how long
/// it took, and what it is priced by.
struct StepProbe {
  double seconds = 0;       // of the steps, the quantile that was asked for
  std::vector<Cost> costs;  // of the operations of one step
};
StepProbe probe_step(const Context& ctx, const WorkloadFactory& workload, int steps, double share);

/// The rate of arithmetic with which an accelerator that is given but for it takes that long for
/// these operations. Throws std::runtime_error when memory and overheads alone take longer.
double flop_rate(const StepProbe& step, Accelerator accelerator);

}  // namespace trigram
