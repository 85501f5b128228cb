#pragma once

#include <atomic>
#include <memory>

#include "algorithms/collectives/collectives.h"
#include "core/algorithm.h"
#include "core/context.h"

namespace trigram {

/// State shared by a worker and its averaging agent. The agent's tasks also own it, since they may
/// be destroyed last.
struct BackgroundAverage {
  BackgroundAverage(Context ctx, Run& run);

  /// Sets the snapshot s = weights. If the worker calls it, the average includes exactly the steps
  /// taken so far; if the agent calls it, the snapshot falls between two steps of the worker. Must
  /// not be called during an average.
  void take_snapshot(Context c);
  /// On the agent: weights += (mean of all ranks' s) - s. Keeps the steps that the worker has taken
  /// since the snapshot, and records their number as staleness.
  void add_mean(Context c, const AllreduceSpec& kind);

  Tensor weights, snapshot, mean;
  std::unique_ptr<Mutex> guard;  // protects the weights
  Steps& steps;
  long taken_at = 0;                   // step of the snapshot
  std::atomic<bool> finished = false;  // the worker has taken its last step
};

/// Returns true on every rank if every rank's `vote` is true, and false on every rank otherwise.
/// Uses the control plane, by dissemination: ceil(lg P) rounds of one message each. All ranks of
/// the world call it, on streams of the same name.
bool agree(Context ctx, bool vote);

}  // namespace trigram
