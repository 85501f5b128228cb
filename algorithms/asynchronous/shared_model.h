#pragma once

#include <memory>

#include "core/algorithm.h"

namespace trigram {

/// A rank's model that its worker and an agent on another stream both change, each by adding to it,
/// so that neither loses what the other did. The worker computes on a copy, the workload's weights;
/// the agent never waits for a gradient, only for additions.
class SharedModel {
 public:
  /// Starts as the workload's weights.
  SharedModel(Context ctx, Run& run);

  /// One iteration of the worker, at a copy of the model: model += what the optimiser changed. The
  /// workload's weights are the model as of the end of the last step.
  void step(Context ctx, Run& run);
  /// The workload's weights become the present model.
  void read(Context ctx);

  /// The agent copies the model; `taken_at` is the step that the worker is in.
  void snapshot(Context c, const Tensor& copy, long& taken_at);
  /// model += change, which the agent made of a snapshot; records how old that was.
  void add(Context c, const Tensor& change, long taken_at);

 private:
  Tensor weights_, model_, change_;
  std::unique_ptr<Mutex> guard_;
  Steps& steps_;
};

}  // namespace trigram
