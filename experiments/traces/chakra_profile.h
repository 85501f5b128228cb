#pragma once

#include "experiments/traces/trace_import.h"

namespace trigram {

/// The profile of a Chakra execution trace of one training step of one rank. Its gradients are the
/// allreduces of the backward pass; a row's backward time is the computation since the message
/// before, until all computation on which the message depends has ended. Leaves name and sources to
/// the caller. Throws ConfigError.
Profile profile_of_chakra_trace(const std::vector<Json>& values, const TraceImportOptions& options);

}  // namespace trigram
