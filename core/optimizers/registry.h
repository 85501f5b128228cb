#pragma once

#include <vector>

#include "core/config/component.h"
#include "core/optimizer.h"

namespace trigram {

/// Makes a rank's optimizer: ctx for its device, the workload that it will step (already
/// bucketized), and the number of steps of the run, which decay schedules end at.
using OptimizerEntry = Component<Optimizer, const Context&, Workload&, long>;
const std::vector<OptimizerEntry>& optimizers();

}  // namespace trigram
