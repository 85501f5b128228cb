#include "algorithms/execution/local_moments.h"

#include <fmt/format.h>

#include "algorithms/execution/steps.h"

namespace trigram {

LocalMoments::LocalMoments(Context ctx, Run& run) : state_(run.state.child("local moments")) {
  // A run that goes on with another number of ranks begins here, with a block of its own.
  const bool begins = run.steps.current() > 0;
  for (const Bucket& bucket : run.workload.buckets()) {
    const auto name = [&](const char* what) { return fmt::format("{} {}", what, bucket.index); };
    const auto start = [&] {
      return begins ? ctx.device->copy_of(bucket.weight) : ctx.device->empty_like(bucket.weight);
    };
    const auto moved = [&] {
      return begins ? ctx.device->zeros_like(bucket.weight) : ctx.device->empty_like(bucket.weight);
    };
    sums_.push_back({.start = state_.tensor(name("start"), start),
                     .moved = state_.tensor(name("moved"), moved),
                     .lr = &state_.value<float>(name("lr"))});
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
