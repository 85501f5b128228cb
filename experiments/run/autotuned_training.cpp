#include "experiments/run/autotuned_training.h"

#include "core/check.h"

namespace trigram {
namespace {

using Interval = BucketTuner::Interval;

/// The interval that begins, which rank 0 chooses. Collective.
Interval agree(const Context& ctx, BucketTuner* tuner) {
  constexpr int kTag = -4;  // algorithms use tags from 0
  if (ctx.world_rank > 0) {
    const auto steps = ctx.control->receive(kTag), size = ctx.control->receive(kTag);
    return {.bytes = size->a, .first = steps->a, .end = steps->b};
  }
  const Interval next = tuner->next();
  for (int rank = 1; rank < ctx.world_size; ++rank) {
    ctx.control->post(rank, kTag, next.first, next.end);
    ctx.control->post(rank, kTag, next.bytes);
  }
  return next;
}

}  // namespace

void train_autotuned(const Context& ctx, Run& run,
                     const std::function<std::unique_ptr<Algorithm>()>& make,
                     const AutotuneOptions& options, BucketTuner* tuner) {
  Execution execution = run.execution;
  for (long first = 0, end = options.every;;) {
    Steps steps(run.steps, first, end - first);
    Run part{run.workload, run.optimizer, steps, execution, run.seed};
    make()->train(ctx, part);
    ctx.stream->synchronize();
    if (run.steps.count() <= end) return;
    run.steps.begin();
    const Interval next = agree(ctx, tuner);
    TRIGRAM_CHECK(next.first == run.steps.current(), "buckets change at step {}, not {}",
                  next.first, run.steps.current());
    execution.bucket_bytes = static_cast<std::size_t>(next.bytes);
    run.workload.bucketize(execution.buckets());
    run.optimizer.rebucket(ctx, run.workload);
    first = next.first;
    end = next.end;
  }
}

}  // namespace trigram
