#pragma once

#include <vector>

#include "core/context.h"
#include "experiments/bench/benchmark_case.h"
#include "experiments/bench/measure.h"

namespace trigram {

/// Vector operations that run on all ranks at the same time. There is one for each kind of
/// operation that may have a separate rate: an optimizer's step ("sgd"), a sum ("axpby"), a copy
/// ("copy"), and the default codec's "encode" and "decode". As in training, operands come from
/// memory, not from caches. The bus factors count the memory traffic from which the simulator
/// computes the times of the operations (core/device/timed_device.h).
const std::vector<BenchEntry>& device_probes();

/// The floating-point operations of a square matrix product with the given side, and the seconds
/// that it takes on this rank while the other ranks run the same product.
double gemm_flops(std::size_t side);
double gemm_seconds(const Context& ctx, std::size_t side, const SizeRange& sizes);

}  // namespace trigram
