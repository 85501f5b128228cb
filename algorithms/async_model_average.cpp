// Asynchronous model averaging (BAGUA, arXiv 2107.01499): each worker trains on its own while an
// agent averages the models of all workers in the background, repeatedly.
//
//   agent: s = x;  a = 1/P sum_j s_j;  x = x + (a - s)
//
// This form adds a difference to x, so local steps made during the average are kept. There are two
// schedules. By time, an average starts `interval` after the previous one ended. Before each
// average the agents agree whether all workers have finished, and stop if so. By steps, the worker
// takes a snapshot and starts an average of the snapshots every `interval_steps` steps; at most one
// average is in flight. The first `warmup_steps` steps are synchronous SGD.
//
// Messages and bytes per rank and average, for a model of S bytes and a ring: 2(P-1) messages,
// 2(P-1)/P S bytes.

#include <algorithm>
#include <memory>

#include "algorithms/asynchronous/background_average.h"
#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::async_model_average {
namespace {

struct Options {
  Execution execution;
  double interval_s = 0.5;
  std::int64_t interval_steps = 0;
  std::int64_t warmup_steps = 0;
  AllreduceSpec allreduce;
};

std::shared_ptr<Work> average_once(Context ctx, Stream& agent,
                                   std::shared_ptr<BackgroundAverage> shared,
                                   const AllreduceSpec& allreduce) {
  return agent.submit(ctx, [shared, allreduce](Context c) { shared->add_mean(c, allreduce); });
}

std::shared_ptr<Work> average_by_time(Context ctx, Stream& agent,
                                      std::shared_ptr<BackgroundAverage> shared,
                                      const Options& options) {
  return agent.submit(ctx, [shared, options](Context c) {
    while (!agree(c, shared->finished)) {
      shared->take_snapshot(c);
      shared->add_mean(c, options.allreduce);
      c.stream->sleep_for(options.interval_s);
    }
  });
}

void train(Context ctx, Run& run, const Options& options) {
  auto shared = std::make_shared<BackgroundAverage>(ctx, run);
  auto agent = ctx.stream->fork("averager");
  auto step = run.steps.begin();
  for (; step != run.steps.end() && *step < options.warmup_steps; ++step)
    gradient_step(ctx, run, *agent, full_average(options.allreduce));

  std::shared_ptr<Work> averaging;
  if (options.interval_steps == 0) averaging = average_by_time(ctx, *agent, shared, options);
  while (step != run.steps.end()) {
    const bool due = options.interval_steps > 0 && (*step + 1) % options.interval_steps == 0;
    {
      Lock lock(*shared->guard);
      local_step(ctx, run);
      // The step ends inside the lock, so that an evaluation at its end never sees a half-applied
      // average.
      ++step;
    }
    if (!due) continue;
    if (averaging) ctx.stream->wait(*averaging);
    // The worker takes the snapshot itself: the agent might take it only after the next step.
    shared->take_snapshot(ctx);
    averaging = average_once(ctx, *agent, shared, options.allreduce);
  }
  shared->finished = true;
  if (averaging) ctx.stream->wait(*averaging);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  const long every = std::max<long>(1, options.interval_steps);
  return {.cycle = Cycle{.first_step = options.warmup_steps, .steps = every, .exact = false},
          .interval_steps = every,
          .by_time = options.interval_steps == 0};
}

}  // namespace

AlgorithmEntry async_model_average_entry() {
  return algorithm_entry(
      {.name = "async_model_average",
       .doc = "Workers step alone while agents average their models in the background",
       .trigram = kAsyncFullPrecisionCentralised,
       .execution_options = "",
       .source = "BAGUA, arXiv 2107.01499"},
      train,
      FieldTable<Options>{}
          .field("interval", &Options::interval_s, quantity(Dimension::duration, true),
                 "Pause between the end of an average and the start of the next")
          .only_where([](const Options& options) { return options.interval_steps == 0; },
                      "has no effect beside interval_steps; remove one of the two")
          .field("interval_steps", &Options::interval_steps, integer(0),
                 "Steps between averages; 0: averages are `interval` apart instead")
          .field("warmup_steps", &Options::warmup_steps, integer(0),
                 "Steps of synchronous gradient averaging at the start")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::async_model_average
