#pragma once

#include <functional>

#include "algorithms/execution/averages.h"

namespace trigram {

/// One step of an outer optimizer. The gradient is d = x_0 - x_H, where x_0 is the model at the
/// start of a block of local steps, and x_H is the average of the workers' models at the end of the
/// block:
///
///   v   = momentum v + gradient_scale d
///   x_0 = x_0 - lr v                                  if not nesterov
///   x_0 = x_0 - lr (gradient_scale d + momentum v)    if nesterov
struct OuterStep {
  float momentum = 0;
  float gradient_scale = 1;
  float lr = 1;
  bool nesterov = false;
};

/// Makes the step on x_0 (`start`) and v (`momentum`). `gradient` is d, and has unspecified values
/// afterwards.
void outer_step(Device& device, const OuterStep& step, const Tensor& gradient, const Tensor& start,
                const Tensor& momentum);

/// Local SGD with an outer optimizer. All workers begin a block of `sync_every` local steps with
/// the same model x_0. At the end of the block they average their models, apply the step that
/// `outer` returns, and begin the next block with the new x_0. An incomplete last block is not
/// averaged.
///
/// `outer` receives the learning rate of the block's last local step. If the run exchanges weights
/// in buckets, the models are averaged one bucket after another. Memory: two additional models.
void train_in_blocks(Context ctx, Run& run, long sync_every, const AllreduceSpec& allreduce,
                     const std::function<OuterStep(float inner_lr)>& outer);

}  // namespace trigram
