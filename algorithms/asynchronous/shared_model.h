#pragma once

#include <memory>

#include "core/algorithm.h"

namespace trigram {

/// A rank's model that its worker and an agent on another stream both change. Each adds to it, so
/// neither overwrites the other's changes. The worker computes on a copy, the workload's weights;
/// the agent waits only for additions, never for a gradient.
class SharedModel {
 public:
  /// Starts as the workload's weights.
  SharedModel(Context ctx, Run& run);

  /// One iteration of the worker on a copy of the model: model += the optimizer's change. The
  /// workload's weights hold the model as of the end of the last step.
  void step(Context ctx, Run& run);
  /// Copies the present model to the workload's weights.
  void read(Context ctx);

  /// The agent copies the model; `taken_at` becomes the worker's present step.
  void snapshot(Context c, const Tensor& copy, long& taken_at);
  /// model += change, which the agent computed from a snapshot; records the snapshot's age.
  void add(Context c, const Tensor& change, long taken_at);

 private:
  Tensor weights_, model_, change_;
  std::unique_ptr<Mutex> guard_;
  Steps& steps_;
};

}  // namespace trigram
