#pragma once

#include <span>

#include "core/context.h"
#include "core/training_state.h"

namespace trigram {

/// The lengths of blocks of local steps of workers that exchange at their own pace. A worker of
/// speed v makes floor(v / v_max H) steps in its next block, at least one, where v_max is the speed
/// of the fastest worker, so that blocks of all workers take nearly the same time (dynamic local
/// updates, Liu et al., arXiv 2401.09135). The speed is that of the worker's latest block.
///
/// Uses the control plane of the main stream: a worker sends its seconds per step to all other
/// workers, P-1 messages per block, and P-1 at the end.
class LocalSteps {
 public:
  /// `most` is H. `state` keeps the speeds.
  LocalSteps(Context ctx, long most, const TrainingState& state);

  /// Call after a block, with its duration per step. Announces it, and returns the number of steps
  /// of the next block.
  long next(Context ctx, double seconds_per_step);
  /// Call after the last block. Returns when all workers have done so.
  void finish(Context ctx);

 private:
  void announce(Context ctx, double seconds_per_step, bool last) const;
  void note(const Message& message);

  long most_;
  std::span<double> step_s_;  // of the latest block of every rank; 0: not known
  int ended_ = 0;             // number of other ranks that make no more steps
};

}  // namespace trigram
