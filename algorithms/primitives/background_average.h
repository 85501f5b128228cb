#pragma once

#include <atomic>
#include <memory>

#include "algorithms/collectives/collectives.h"
#include "core/algorithm.h"

namespace trigram {

/// What a worker and its averaging agent share. Held by the agent's tasks too, which may be torn
/// down last.
struct BackgroundAverage {
  BackgroundAverage(Context ctx, Run& run);

  /// On the agent: s = weights; weights += mean of all ranks' s - s. The steps that the worker
  /// takes meanwhile are kept; how many they were is recorded as staleness.
  void average(Context c, const AllreduceSpec& kind);

  Tensor weights, snapshot, mean;
  std::unique_ptr<Mutex> guard;  // of the weights
  Steps& steps;
  std::atomic<bool> finished = false;  // the worker has taken its last step
};

}  // namespace trigram
