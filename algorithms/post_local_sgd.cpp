// Post-local SGD: synchronous SGD at first, local SGD later (Lin et al., arXiv 1808.07217).
//
//   t < t_0:  x = x - lr U(1/P sum_j g_j(x))
//   after:    x_i = x_i - lr U(g_i(x_i));  every H steps: x_i = 1/P sum_j x_j
//
// The paper switches at the first decay of the learning rate. We restate the equations here and do
// not quote numbers of the paper. After the switch the state of the optimizer stays local.
//
// Messages and bytes per rank, for a model of S bytes and a ring: before the switch, 2(P-1)
// messages per bucket and iteration and 2(P-1)/P S bytes; after it, 2(P-1) messages and 2(P-1)/P S
// bytes per average.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"
#include "algorithms/options.h"

namespace trigram::algorithm::post_local_sgd {
namespace {

struct Options {
  Execution execution;
  std::int64_t switch_step = 100;
  std::int64_t sync_every = 16;
  AllreduceSpec allreduce;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, full_average(options.allreduce));
  for (long t : run.steps) {
    const long alone = t - options.switch_step;  // steps since the switch
    if (alone < 0) gradient_step(ctx, run, *comm, average);
    else local_step(ctx, run, *comm, average, (alone + 1) % options.sync_every == 0);
  }
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.first_step = options.switch_step, .steps = options.sync_every},
          .interval_steps = options.sync_every};
}

}  // namespace

AlgorithmEntry post_local_sgd_entry() {
  return algorithm_entry(
      {.name = "post_local_sgd",
       .doc = "Synchronous SGD at first, then workers step alone and average every few steps",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Lin et al., Don't Use Large Mini-Batches, Use Local SGD, arXiv 1808.07217",
       .own_states = true},
      train,
      FieldTable<Options>{}
          .field("switch_step", &Options::switch_step, integer(0),
                 "t_0: synchronous steps before workers step alone; by convention, the step of the "
                 "first learning-rate decay")
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between averages, later")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::post_local_sgd
