#pragma once

#include <cstdint>
#include <memory>

#include "core/workloads/registry.h"

namespace trigram::test {

/// A rank's workload whose passes run on the host, bitwise as in a world without accelerators,
/// while its weights and gradients live on ctx.device. Differences between two worlds then do not
/// come from gradients.
std::unique_ptr<Workload> with_host_gradients(const WorkloadFactory& factory, const Context& ctx,
                                              std::uint64_t seed);

}  // namespace trigram::test
