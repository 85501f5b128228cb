#pragma once

#include <memory>

#include "core/algorithm.h"
#include "core/workload.h"

namespace trigram {

/// Gradient accumulation: a workload whose mini-batch consists of `count` mini-batches of
/// `workload` (at least 2), the micro-batches. Its gradients and its loss are the means over these,
/// all taken at the same weights. `forward` makes all passes except the last backward pass, so only
/// the last backward pass reports buckets and can overlap with their exchange.
///
/// The sum of gradients is one more tensor of the model's size, allocated here on ctx.device.
/// Adding to it is charged like other vector operations: all gradients after each micro-batch but
/// the last, and then every bucket before it is reported.
///
/// Every `forward` records `count` mini-batches (Steps::record_batches), so `batch` remains the
/// size of a micro-batch. The caller owns `steps`.
std::unique_ptr<Workload> with_micro_batches(std::unique_ptr<Workload> workload, const Context& ctx,
                                             Steps& steps, long count);

}  // namespace trigram
