#include "algorithms/execution/delayed_updates.h"

#include <fmt/format.h>

#include <utility>

#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"

namespace trigram {

DelayedUpdates::DelayedUpdates(Context ctx, Run& run, long delay, Exchange exchange)
    : comm_(ctx.stream->fork("comm")),
      exchange_(across(run.execution, std::move(exchange))),
      delay_(delay),
      rounds_(static_cast<std::size_t>(delay + 1)) {
  for (std::size_t r = 0; r < rounds_.size(); ++r)
    for (const Bucket& bucket : run.workload.buckets())
      rounds_[r].gradients.push_back(
          delay == 0 ? bucket.grad
                     : run.state.tensor(fmt::format("gradients {} {}", r, bucket.index),
                                        [&] { return ctx.device->empty_like(bucket.grad); }));
}

void DelayedUpdates::begin(Context ctx, Run& run, const Bucket& bucket) {
  Round& now = round(run.steps.current());
  const Tensor& gradient = now.gradients[static_cast<std::size_t>(bucket.index)];
  if (delay_ > 0) ctx.device->copy(gradient, bucket.grad);
  now.pending.push_back(begin_exchange(*comm_, ctx, run, gradient, bucket.index, exchange_));
}

void DelayedUpdates::begin(Context ctx, Run& run) {
  for (const Bucket& bucket : run.workload.buckets()) begin(ctx, run, bucket);
}

void DelayedUpdates::apply(Context ctx, Run& run) {
  const long step = run.steps.current() - delay_;
  if (step < 0) return;
  Round& old = round(step);
  const bool together = run.optimizer.needs_all_gradients();
  if (together) {
    wait_for(ctx, old.pending);
    if (delay_ > 0)
      for (const Bucket& bucket : run.workload.buckets())
        ctx.device->copy(bucket.grad, old.gradients[static_cast<std::size_t>(bucket.index)]);
  }
  for (Bucket bucket : run.workload.buckets()) {
    const auto index = static_cast<std::size_t>(bucket.index);
    if (!together) {
      // An exchange of an earlier part of the run ended with it.
      if (!old.pending.empty()) ctx.stream->wait(*old.pending[index]);
      bucket.grad = old.gradients[index];
    }
    run.optimizer.step(ctx, bucket);
  }
  old.pending.clear();
}

void DelayedUpdates::finish(Context ctx) {
  for (const Round& round : rounds_) wait_for(ctx, round.pending);
}

}  // namespace trigram
