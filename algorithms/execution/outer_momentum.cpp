#include "algorithms/execution/outer_momentum.h"

#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"

namespace trigram {

void outer_step(Device& device, const OuterStep& step, const Tensor& gradient, const Tensor& start,
                const Tensor& momentum) {
  device.axpby(step.gradient_scale, gradient, step.momentum, momentum);
  if (step.nesterov) {
    device.axpby(-step.lr * step.gradient_scale, gradient, 1, start);
    device.axpby(-step.lr * step.momentum, momentum, 1, start);
  } else {
    device.axpby(-step.lr, momentum, 1, start);
  }
}

void train_in_blocks(Context ctx, Run& run, long sync_every, const AllreduceSpec& allreduce,
                     const std::function<OuterStep(float inner_lr)>& outer) {
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, full_average(allreduce));
  const Tensor weights = run.workload.weights();
  const Tensor start = run.state.copy_of(ctx, "start", weights),
               momentum = run.state.zeros_like(ctx, "momentum", weights);
  for (long t : run.steps) {
    const float inner_lr = run.optimizer.learning_rate(run.workload.buckets()[0]);
    local_step(ctx, run);
    if ((t + 1) % sync_every != 0) continue;
    exchange_on(*comm, ctx, run, weights, average);
    ctx.device->axpby(1, start, -1, weights);  // x_0 - x_H
    outer_step(*ctx.device, outer(inner_lr), weights, start, momentum);
    ctx.device->copy(weights, start);
  }
}

}  // namespace trigram
