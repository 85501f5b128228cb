#include "algorithms/execution/local_moments.h"

#include <fmt/format.h>

#include "algorithms/execution/steps.h"

namespace trigram {

LocalMoments::LocalMoments(Context ctx, Run& run) : state_(run.state.child("local moments")) {
  for (const Bucket& bucket : run.workload.buckets()) {
    const auto kept = [&](const char* what) {
      return state_.tensor(fmt::format("{} {}", what, bucket.index),
                           [&] { return ctx.device->empty_like(bucket.weight); });
    };
    sums_.push_back({.start = kept("start"),
                     .moved = kept("moved"),
                     .lr = &state_.value<float>(fmt::format("lr {}", bucket.index))});
  }
}

void LocalMoments::begin(Context ctx, Run& run) {
  for (const Bucket& bucket : run.workload.buckets()) restart(ctx, bucket);
}

void LocalMoments::restart(Context ctx, const Bucket& bucket) {
  Sum& own = sum(bucket);
  ctx.device->copy(own.start, bucket.weight);
  ctx.device->fill(own.moved, 0);
  *own.lr = 0;
}

void LocalMoments::step(Context ctx, Run& run, Stream& comm, const Exchange& average, bool due) {
  if (due) {
    Run own = accumulating(run);
    return exchange_step(
        ctx, own, comm, average, [&](Bucket& bucket) { return add(ctx, run, bucket); },
        [&](Bucket& bucket) { step_averaged(ctx, run, bucket); });
  }
  compute_gradients(ctx, run);
  for (Bucket& bucket : run.workload.buckets()) {
    add(ctx, run, bucket);
    run.optimizer.advance(ctx, bucket);
  }
}

Tensor LocalMoments::add(Context ctx, Run& run, Bucket& bucket) {
  Sum& own = sum(bucket);
  const float lr = run.optimizer.learning_rate(bucket);
  run.optimizer.accumulate(ctx, bucket);
  ctx.device->axpby(lr, run.optimizer.moment(bucket), 1, own.moved);
  *own.lr += lr;
  return own.moved;
}

void LocalMoments::step_averaged(Context ctx, Run& run, Bucket& bucket) {
  Sum& own = sum(bucket);
  // If the learning rates have decayed to 0, their sum is 0 and nothing has moved.
  if (*own.lr > 0) ctx.device->axpby(1 / *own.lr, own.moved, 0, run.optimizer.moment(bucket));
  ctx.device->copy(bucket.weight, own.start);
  run.optimizer.advance(ctx, bucket, *own.lr);
  restart(ctx, bucket);
}

}  // namespace trigram
