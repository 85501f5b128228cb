// Synchronous SGD on gradients that are k steps old, so that an allreduce has k steps of time
// (Pipe-SGD, Li et al., arXiv 1811.03619).
//
//   x_{t+1} = x_t - lr U(1/P sum_j g_j(x_{t-k}))
//
// The allreduce of a step's gradients runs beside the next k steps, so in the long run a step takes
// the longer of computation and communication instead of the sum of computation and exposed
// communication. All workers have the same weights after every step. In the first k steps the
// weights do not change, and the gradients of the last k steps are averaged but not used. k = 0 is
// gradient_allreduce.
//
// Delay costs stability: on a quadratic function with curvature h, plain SGD with k = 1 converges
// only if lr h < 1 (the roots of z^2 - z + lr h are inside the unit circle); with k = 0, if
// lr h < 2. We restate the equations here and do not quote numbers of the paper. In the one epoch
// of docs/convergence.md the model is 2.3 points below gradient_allreduce, and no better with
// smaller learning rates: a gradient of earlier weights is no longer the gradient where the step is
// made.
//
// Messages and bytes per rank and iteration, for S bytes of gradient in buckets and a ring: 2(P-1)
// messages per bucket, 2(P-1)/P S bytes in all. Memory: k + 1 models.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/delayed_updates.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::delayed_allreduce {
namespace {

struct Options {
  Execution execution;
  std::int64_t delay = 1;
  AllreduceSpec allreduce;
};

void train(Context ctx, Run& run, const Options& options) {
  DelayedUpdates updates(ctx, run, options.delay, full_average(options.allreduce));
  for ([[maybe_unused]] long t : run.steps) {
    if (run.execution.overlap) {
      run.workload.forward(ctx);
      run.workload.backward(ctx, [&](Bucket& bucket) { updates.begin(ctx, run, bucket); });
    } else {
      compute_gradients(ctx, run);
      updates.begin(ctx, run);
    }
    updates.apply(ctx, run);
  }
  updates.finish(ctx);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.first_step = options.delay}};
}

}  // namespace

AlgorithmEntry delayed_allreduce_entry() {
  return algorithm_entry(
      {.name = "delayed_allreduce",
       .doc =
           "Synchronous SGD on the mean gradient of an earlier step, which is averaged meanwhile",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Li et al., Pipe-SGD, arXiv 1811.03619"},
      train,
      FieldTable<Options>{}
          .field("delay", &Options::delay, integer(0, 1 << 10),
                 "k: steps from the computation of a gradient to the step along it; 0: synchronous "
                 "SGD")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::delayed_allreduce
