#pragma once

#include <memory>

#include "core/algorithm.h"
#include "core/machine_model.h"
#include "core/workload.h"

namespace trigram {

/// A workload with real computation, slowed down by the compute factor of the machine model. An
/// interval of a pass ends where the workload reports a bucket, or with the pass. At its end,
/// before the bucket is reported, the rank sleeps (factor - 1) times the processor time of the
/// interval. Sleeps within a pass, such as those for a profile's layers, use no processor time and
/// are not extended. Factors below 1 have no effect. A workload that computes on an accelerator,
/// whose time is not processor time, is returned unchanged.
///
/// `stream` is the rank's main stream, on which the passes run. It must be the runtime's stream
/// itself, because a metered stream would count these sleeps as sleep rather than as computation.
/// The caller owns the stream, the model and the steps.
std::unique_ptr<Workload> slowed(std::unique_ptr<Workload> workload, Stream& stream,
                                 const MachineModel& machine, const Steps& steps);

}  // namespace trigram
