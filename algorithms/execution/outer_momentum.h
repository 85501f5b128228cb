#pragma once

#include <functional>

#include "algorithms/execution/averages.h"

namespace trigram {

/// One step of an outer optimizer. Its gradient is d = x_0 - x_H, the negated change of the average
/// model in a block of local steps:
///
///   v = kept v + gain d;  x_0 = x_0 - lr v,  or, after Nesterov, x_0 = x_0 - lr (gain d + kept v)
struct OuterStep {
  float kept = 0;
  float gain = 1;
  float lr = 1;
  bool nesterov = false;
};

/// Local SGD in blocks of `sync_every` steps. All workers begin a block at a common x_0. x_H is the
/// average of their models at its end (in buckets, one after another, if the run uses them). The
/// step `outer` moves x_0, where the next block begins. `outer` receives the learning rate of the
/// block's last step. Memory: two more models.
void train_in_blocks(Context ctx, Run& run, long sync_every, const AllreduceSpec& allreduce,
                     const std::function<OuterStep(float inner_lr)>& outer);

}  // namespace trigram
