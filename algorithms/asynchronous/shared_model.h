#pragma once

#include <memory>

#include "core/algorithm.h"

namespace trigram {

/// A model of a rank that both the rank's worker and an agent on another stream change. Each of
/// them only adds to it, so neither overwrites changes of the other. The worker computes on a copy,
/// the workload's weights, so the agent may have to wait for an addition, but never for a gradient.
class SharedModel {
 public:
  /// Starts as the workload's weights.
  SharedModel(Context ctx, Run& run);

  /// One iteration of the worker on a copy of the model: model += the optimizer's change. The copy
  /// was taken at the end of the last step.
  void step(Context ctx, Run& run);
  /// Copies the present model to the workload's weights.
  void read(Context ctx);

  /// Called by the agent: sets `copy` to the model, and `taken_at` to the worker's present step.
  void snapshot(Context c, const Tensor& copy, long& taken_at);
  /// Called by the agent: model += change, which was computed from a snapshot taken at step
  /// `taken_at`. Records the snapshot's age as staleness.
  void add(Context c, const Tensor& change, long taken_at);

 private:
  Tensor weights_, model_, change_;
  std::unique_ptr<Mutex> guard_;
  Steps& steps_;
};

}  // namespace trigram
