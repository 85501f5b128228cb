#pragma once

#include <functional>
#include <memory>

#include "core/algorithm.h"
#include "experiments/run/bucket_tuner.h"

namespace trigram {

/// Trains as one rank, in buckets whose size changes. `tuner` chooses the sizes and is null on all
/// ranks but rank 0, which sends each size and the steps in which it holds to the other ranks over
/// the control plane. At a change, the algorithm ends as it ends a run, and another one, which
/// `make` makes, begins; weights, data and the optimizer's state go on. The change is part of the
/// step after it. Collective over all ranks of a synchronous algorithm whose models are equal.
void train_autotuned(const Context& ctx, Run& run,
                     const std::function<std::unique_ptr<Algorithm>()>& make,
                     const AutotuneOptions& options, BucketTuner* tuner);

}  // namespace trigram
