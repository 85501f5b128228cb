#include "algorithms/execution/steps.h"

#include <memory>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"

namespace trigram {
namespace {

void model_step_by_part(Context ctx, Run& run, Stream& comm, const Tensor& copy,
                        const Exchange& exchange) {
  const std::vector<Tensor> copies = cut_like_parts(run, copy);
  WorkList pending;
  const auto issue = [&](const Part& part) {
    const Tensor& part_copy = copies[static_cast<std::size_t>(part.index)];
    ctx.device->copy(part_copy, part.weights);
    pending.push_back(begin_exchange(comm, ctx, run, part_copy, part.index, exchange));
  };
  compute_by_part(ctx, run, issue, /*steps=*/false);
  for (const Part& part : parts_of(run)) {
    const auto i = static_cast<std::size_t>(part.index);
    ctx.stream->wait(*pending[i]);
    ctx.device->copy(part.weights, copies[i]);
    optimizer_step(ctx, run, part);
  }
}

/// Calls `apply` for each bucket as soon as its exchange in `pending` has ended.
void apply_when_exchanged(Context ctx, Run& run, const WorkList& pending,
                          const std::function<void(Bucket&)>& apply) {
  if (run.optimizer.needs_all_gradients()) wait_for(ctx, pending);
  for (Bucket& bucket : run.workload.buckets()) {
    ctx.stream->wait(*pending[static_cast<std::size_t>(bucket.index)]);
    apply(bucket);
  }
}

}  // namespace

void exchange_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange,
                   const std::function<Tensor(Bucket&)>& exchanged,
                   const std::function<void(Bucket&)>& apply) {
  WorkList pending;
  auto issue = [&](Bucket& bucket) {
    pending.push_back(begin_exchange(comm, ctx, run, exchanged(bucket), bucket.index, exchange));
  };
  run.workload.forward(ctx);
  if (run.execution.overlap) {
    run.workload.backward(ctx, issue);
  } else {
    run.workload.backward(ctx, [](Bucket&) {});
    for (Bucket& bucket : run.workload.buckets()) issue(bucket);
  }
  apply_when_exchanged(ctx, run, pending, apply);
}

void gradient_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange) {
  exchange_step(
      ctx, run, comm, exchange, [](Bucket& bucket) { return bucket.grad; },
      [&](Bucket& bucket) { run.optimizer.step(ctx, bucket); });
}

void train_on_gradients(Context ctx, Run& run, Exchange exchange) {
  auto comm = ctx.stream->fork("comm");
  const Exchange average = across(run.execution, std::move(exchange));
  for ([[maybe_unused]] long t : run.steps) gradient_step(ctx, run, *comm, average);
}

void exchange_and_update(Context ctx, Run& run, Stream& comm, const Exchange& exchange) {
  WorkList pending;
  for (Bucket& bucket : run.workload.buckets())
    pending.push_back(begin_exchange(comm, ctx, run, bucket.grad, bucket.index, exchange));
  apply_when_exchanged(ctx, run, pending, [&](Bucket& bucket) { run.optimizer.step(ctx, bucket); });
}

Run accumulating(const Run& run) {
  Run result = run;
  if (run.optimizer.needs_all_gradients()) result.execution.overlap = false;
  return result;
}

void moment_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange) {
  Run own = accumulating(run);
  exchange_step(
      ctx, own, comm, exchange,
      [&](Bucket& bucket) {
        run.optimizer.accumulate(ctx, bucket);
        return run.optimizer.moment(bucket);
      },
      [&](Bucket& bucket) { run.optimizer.advance(ctx, bucket); });
}

void model_step(Context ctx, Run& run, Stream& comm, const Tensor& copy, const Exchange& exchange) {
  if (run.execution.model_bucket_bytes) return model_step_by_part(ctx, run, comm, copy, exchange);
  const Tensor weights = run.workload.weights();
  auto issue = [&] {
    ctx.device->copy(copy, weights);
    return begin_exchange(comm, ctx, run, copy, 0, exchange);
  };
  std::shared_ptr<Work> pending;
  if (run.execution.overlap) pending = issue();
  compute_gradients(ctx, run);
  if (!run.execution.overlap) pending = issue();
  ctx.stream->wait(*pending);
  ctx.device->copy(weights, copy);
  optimizer_step(ctx, run);
}

void local_step(Context ctx, Run& run) {
  compute_gradients(ctx, run);
  optimizer_step(ctx, run);
}

void compute_gradients(Context ctx, Run& run) {
  run.workload.forward(ctx);
  run.workload.backward(ctx, [](Bucket&) {});
}

void optimizer_step(Context ctx, Run& run) {
  for (Bucket& bucket : run.workload.buckets()) run.optimizer.step(ctx, bucket);
}

void exchange_on(Stream& comm, Context ctx, Run& run, const Tensor& x, const Exchange& exchange) {
  WorkList pending;
  int index = 0;
  for (const Tensor& part : cut_like_parts(run, x))
    pending.push_back(begin_exchange(comm, ctx, run, part, index++, exchange));
  wait_for(ctx, pending);
}

namespace {

/// Begins the exchange of a copy of every part's weights, up to the node leaders.
WorkList begin_gossip(Context ctx, Run& run, Stream& comm, std::span<const Tensor> copies,
                      const Exchange& exchange) {
  const Execution& execution = run.execution;
  Exchange up =
      execution.hierarchical ? among_leaders(exchange, execution.segment_bytes) : exchange;
  if (execution.synchronize) up = synchronized(std::move(up));
  WorkList pending;
  for (const Part& part : parts_of(run)) {
    const auto copy_and_exchange = [up, weights = part.weights](Context c, const Tensor& copy,
                                                                Slot slot) {
      c.device->copy(copy, weights);
      up(c, copy, slot);
    };
    pending.push_back(begin_exchange(comm, ctx, run, copies[static_cast<std::size_t>(part.index)],
                                     part.index, copy_and_exchange));
  }
  return pending;
}

/// Begins to bring every part's result from the leader's copy to the weights of all ranks.
WorkList begin_copy_back(Context ctx, Run& run, Stream& comm, std::span<const Tensor> copies) {
  const Execution& execution = run.execution;
  WorkList pending;
  for (const Part& part : parts_of(run)) {
    Exchange down = [execution, copy = copies[static_cast<std::size_t>(part.index)]](
                        Context c, const Tensor& weights, Slot slot) {
      const bool receives = execution.hierarchical && !c.layout->is_leader(c.world_rank);
      if (!receives) c.device->copy(weights, copy);
      if (execution.hierarchical) from_leader(execution.segment_bytes)(c, weights, slot);
    };
    if (execution.synchronize) down = synchronized(std::move(down));
    pending.push_back(begin_exchange(comm, ctx, run, part.weights, part.index, down));
  }
  return pending;
}

}  // namespace

void gossip_step(Context ctx, Run& run, Stream& comm, const Tensor& copy,
                 const Exchange& exchange) {
  const std::vector<Tensor> copies = cut_like_parts(run, copy);
  WorkList pending;
  if (run.execution.overlap) pending = begin_gossip(ctx, run, comm, copies, exchange);
  compute_gradients(ctx, run);
  if (!run.execution.overlap) pending = begin_gossip(ctx, run, comm, copies, exchange);
  wait_for(ctx, pending);
  if (run.execution.synchronize) wait_on_host(ctx);
  wait_for(ctx, begin_copy_back(ctx, run, comm, copies));
  optimizer_step(ctx, run);
}

void broadcast_buffers(Context ctx, Run& run, Stream& comm) {
  constexpr std::size_t kPiece_bytes = 512u << 10;
  const Tensor buffers = run.workload.buffers();
  if (buffers.priced_numel() == 0) return;
  const auto broadcast = [buffers](Context c) {
    pipelined_broadcast(c, buffers, 0, static_cast<int>(parts_within(buffers, kPiece_bytes)));
  };
  ctx.stream->wait(*comm.submit(ctx, broadcast));
}

}  // namespace trigram
