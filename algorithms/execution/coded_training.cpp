#include "algorithms/execution/coded_training.h"

#include "algorithms/execution/hierarchy.h"

namespace trigram {
namespace {

/// Averages gradients as before, but moves along the present moments and ignores the gradients.
void step_along_old_moments(Context ctx, Run& run, Stream& comm, const Exchange& average) {
  exchange_step(
      ctx, run, comm, average, [](Bucket& bucket) { return bucket.grad; },
      [&](Bucket& bucket) { run.optimizer.advance(ctx, bucket); });
}

}  // namespace

void train_on_moments(Context ctx, Run& run, long warmup_steps, WarmUp warm_up,
                      const AllreduceSpec& allreduce, const Coding& coding,
                      BiasCorrection correction) {
  auto comm = ctx.stream->fork("comm");
  const bool ignores_last = warm_up == WarmUp::ignores_last_gradient;
  Execution warm_up_execution = run.execution;
  if (ignores_last) warm_up_execution.hierarchical = false;
  const auto average = across(warm_up_execution, full_average(allreduce));
  const auto average_coded = across(run.execution, coded_average(coding));
  for (long t : run.steps) {
    if (t == warmup_steps && correction == BiasCorrection::frozen)
      run.optimizer.freeze_corrections();
    if (ignores_last && t == warmup_steps - 1) step_along_old_moments(ctx, run, *comm, average);
    else if (t < warmup_steps) gradient_step(ctx, run, *comm, average);
    else moment_step(ctx, run, *comm, average_coded);
  }
}

}  // namespace trigram
