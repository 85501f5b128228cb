#pragma once

#include <cstdint>
#include <memory>

#include "core/workloads/registry.h"

namespace trigram::test {

/// A workload of a rank whose weights and gradients are on ctx.device, but whose passes run on the
/// host, with bitwise the same results as in a world without accelerators. With it, gradients cause
/// no differences between two worlds.
std::unique_ptr<Workload> with_host_gradients(const WorkloadFactory& factory, const Context& ctx,
                                              std::uint64_t seed);

}  // namespace trigram::test
