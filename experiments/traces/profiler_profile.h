#pragma once

#include "experiments/traces/trace_import.h"

namespace trigram {

/// The profile of a step of a trace of torch.profiler. Gradients are the calls of AccumulateGrad,
/// in their order, with the sizes of their inputs. The time of a gradient's row ends when the
/// gradient is complete; the time of a layer's forward pass ends with the layer and includes
/// operations since the layer before. So the rows add up to the traced passes. Leaves name and
/// sources to the caller. Throws ConfigError.
Profile profile_of_profiler_trace(const Json& document, const TraceImportOptions& options);

}  // namespace trigram
