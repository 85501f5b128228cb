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

  /// s = weights. By the worker, whose average is then of the steps that it has taken so far; or by
  /// the agent, between any two of the worker's steps. Not while an average is under way.
  void take_snapshot(Context c);
  /// On the agent: weights += mean of all ranks' s - s. The steps that the worker has taken since
  /// the snapshot are kept; how many they are is recorded as staleness.
  void add_mean(Context c, const AllreduceSpec& kind);

  Tensor weights, snapshot, mean;
  std::unique_ptr<Mutex> guard;  // of the weights
  Steps& steps;
  long taken_at = 0;                   // step of the snapshot
  std::atomic<bool> finished = false;  // the worker has taken its last step
};

}  // namespace trigram
