#pragma once

#include <vector>

#include "core/context.h"
#include "experiments/bench/exercise.h"
#include "experiments/bench/measure.h"

namespace trigram {

/// y = x + y, by all ranks at the same time: three passes over memory. Sizes are of x.
const BenchEntry& stream_probe();

/// Operations of a square matrix product of such a side, and seconds that it takes on this rank
/// beside the others (of the ladder's iterations its quantile).
double gemm_flops(std::size_t side);
double gemm_seconds(const Context& ctx, std::size_t side, const Ladder& ladder);

}  // namespace trigram
