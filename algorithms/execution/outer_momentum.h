#pragma once

#include <functional>

#include "algorithms/execution/averages.h"

namespace trigram {

/// One step of an outer optimizer, which takes d = x_0 - x_H, what a block of local steps has moved
/// the average model by, for a gradient:
///
///   v = kept v + gain d;  x_0 = x_0 - lr v,  or, after Nesterov, x_0 = x_0 - lr (gain d + kept v)
struct OuterStep {
  float kept = 0;
  float gain = 1;
  float lr = 1;
  bool nesterov = false;
};

/// Local SGD in blocks of `sync_every` steps: all workers begin a block at a common x_0, x_H is the
/// average of what they end with (in buckets, one after another, where the run has them), and x_0,
/// moved by `outer`, is where they begin the next. `outer` is told the learning rate of the block's
/// last step. Memory: two models more.
void train_in_blocks(Context ctx, Run& run, long sync_every, const AllreduceSpec& allreduce,
                     const std::function<OuterStep(float inner_lr)>& outer);

}  // namespace trigram
