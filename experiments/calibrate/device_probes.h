#pragma once

#include <vector>

#include "core/context.h"
#include "experiments/bench/benchmark_case.h"
#include "experiments/bench/measure.h"

namespace trigram {

/// Operations on vectors, each of a kind that accelerators may have a rate of their own for, by all
/// ranks at the same time: an optimizer's step ("sgd"), a sum ("axpby"), a copy, and the default
/// codec's "encode" and "decode". As in training, operands come from memory, not from caches. Their
/// bus factors count the memory traffic that the operations are priced by
/// (core/device/timed_device.h).
const std::vector<BenchEntry>& device_probes();

/// Operations of a square matrix product of such a side, and seconds that it takes on this rank
/// beside the others.
double gemm_flops(std::size_t side);
double gemm_seconds(const Context& ctx, std::size_t side, const SizeRange& ladder);

}  // namespace trigram
