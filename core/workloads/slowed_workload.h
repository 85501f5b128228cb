#pragma once

#include <memory>

#include "core/algorithm.h"
#include "core/machine_model.h"
#include "core/workload.h"

namespace trigram {

/// A workload that really computes, on a processor that the machine model makes slower than it is:
/// after every stretch of a pass the rank sleeps (factor - 1) times the processor time that the
/// stretch took, before the bucket at its end is reported. What passes sleep for themselves, such
/// as a profile's layers, takes no processor time and is not slept again. Factors below 1 have no
/// effect, nor has any on an accelerator, whose time is not the processor's.
///
/// `stream` is the rank's main stream, where the passes run, as the runtime has it: what is slept
/// there counts as computation, where a metered stream would count it as sleep. The stream, the
/// model and the steps are kept by the caller.
std::unique_ptr<Workload> slowed(std::unique_ptr<Workload> workload, Stream& stream,
                                 const MachineModel& machine, const Steps& steps);

}  // namespace trigram
