#pragma once

#include <cstdint>
#include <memory>

#include "core/workloads/registry.h"

namespace trigram::test {

/// A workload of a rank whose passes run on the host, bitwise as in a world without accelerators,
/// although its weights and gradients are on ctx.device. So differences between two worlds do not
/// come from gradients.
std::unique_ptr<Workload> with_host_gradients(const WorkloadFactory& factory, const Context& ctx,
                                              std::uint64_t seed);

}  // namespace trigram::test
