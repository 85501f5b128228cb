#pragma once

#include <vector>

#include "core/context.h"
#include "experiments/bench/benchmark_case.h"
#include "experiments/bench/measure.h"

namespace trigram {

/// Vector operations, one of each kind for which accelerators may have a separate rate, on all
/// ranks at the same time: an optimizer's step ("sgd"), a sum ("axpby"), a copy, and the default
/// codec's "encode" and "decode". As in training, operands come from memory, not from caches. The
/// bus factors count the memory traffic by which the operations are priced
/// (core/device/timed_device.h).
const std::vector<BenchEntry>& device_probes();

/// The floating-point operations of a square matrix product with the given side, and the seconds
/// that it takes on this rank while other ranks run the same.
double gemm_flops(std::size_t side);
double gemm_seconds(const Context& ctx, std::size_t side, const SizeRange& ladder);

}  // namespace trigram
