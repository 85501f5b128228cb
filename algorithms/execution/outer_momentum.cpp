#include "algorithms/execution/outer_momentum.h"

#include <utility>

#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"

namespace trigram {

FieldTable<NesterovOuter> nesterov_outer_fields() {
  return FieldTable<NesterovOuter>{}
      .field("outer_lr", &NesterovOuter::lr, number(0, 1e3), "Learning rate of outer steps")
      .field("outer_momentum", &NesterovOuter::momentum, number(0, 1, Open::above),
             "mu: share of the outer momentum kept");
}

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

void train_in_blocks(Context ctx, Run& run, long sync_every, const Exchange& average,
                     const std::function<OuterStep(float inner_lr)>& outer, Averaged averaged) {
  auto comm = ctx.stream->fork("comm");
  const Exchange exchange = across(run.execution, average);
  const Tensor weights = run.workload.weights();
  const Tensor start = run.state.copy_of(ctx, "start", weights),
               momentum = run.state.zeros_like(ctx, "momentum", weights);
  const auto subtract = [&] { ctx.device->axpby(1, start, -1, weights); };  // x_0 - x_H
  for (long t : run.steps) {
    const float inner_lr = run.optimizer.learning_rate(run.workload.buckets()[0]);
    local_step(ctx, run);
    if ((t + 1) % sync_every != 0) continue;
    if (averaged == Averaged::differences) subtract();
    exchange_on(*comm, ctx, run, weights, exchange);
    if (averaged == Averaged::models) subtract();
    outer_step(*ctx.device, outer(inner_lr), weights, start, momentum);
    ctx.device->copy(weights, start);
  }
}

void train_in_late_blocks(Context ctx, Run& run, long sync_every, const Exchange& average,
                          const std::function<void(const LateBlock&)>& outer) {
  auto comm = ctx.stream->fork("comm");
  const Exchange exchange = across(run.execution, average);
  const Tensor weights = run.workload.weights();
  const Tensor start = run.state.copy_of(ctx, "start", weights),
               mean = run.state.zeros_like(ctx, "mean", weights);
  WorkList pending;  // the exchange of `mean`
  for (long t : run.steps) {
    local_step(ctx, run);
    if ((t + 1) % sync_every != 0) continue;
    ctx.device->axpby(1, start, -1, weights);  // the new difference
    wait_for(ctx, std::exchange(pending, {}));
    outer({.start = start, .difference = weights, .mean = mean});
    ctx.device->copy(mean, weights);
    ctx.device->copy(weights, start);
    int index = 0;
    for (const Tensor& part : cut_like_parts(run, mean))
      pending.push_back(begin_exchange(*comm, ctx, run, part, index++, exchange));
  }
  wait_for(ctx, pending);
}

}  // namespace trigram
