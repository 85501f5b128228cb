#include "algorithms/execution/moments.h"

namespace trigram {

void train_on_moments(Context ctx, Run& run, long warmup_steps, const AllreduceSpec& dense,
                      const Coding& coding, BiasCorrection correction) {
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, full_average(dense));
  const auto average_coded = across(run.execution, coded_average(coding));
  for (long t : run.steps) {
    if (t == warmup_steps && correction == BiasCorrection::frozen)
      run.optimizer.freeze_corrections();
    if (t < warmup_steps) gradient_step(ctx, run, *comm, average);
    else moment_step(ctx, run, *comm, average_coded);
  }
}

}  // namespace trigram
