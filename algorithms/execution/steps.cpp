#include <memory>
#include <vector>

#include "algorithms/execution/parts.h"

namespace trigram {

namespace {

void model_step_by_part(Context ctx, Run& run, Stream& comm, const Tensor& exchanged,
                        const Exchange& exchange) {
  const std::vector<Tensor> rooms = cut_like_parts(run, exchanged);
  std::vector<std::shared_ptr<Work>> pending;
  compute_by_part(ctx, run, [&](const Part& part) {
    const Tensor& room = rooms[static_cast<std::size_t>(part.index)];
    ctx.device->copy(room, part.weights);
    pending.push_back(begin_exchange(comm, ctx, run, room, part.index, exchange));
  });
  for (const Part& part : parts_of(run)) {
    const auto i = static_cast<std::size_t>(part.index);
    ctx.stream->wait(*pending[i]);
    ctx.device->copy(part.weights, rooms[i]);
    optimizer_step(ctx, run, part);
  }
}

}  // namespace

void exchange_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange,
                   const std::function<Tensor(Bucket&)>& exchanged,
                   const std::function<void(Bucket&)>& apply) {
  std::vector<std::shared_ptr<Work>> pending;
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
  for (Bucket& bucket : run.workload.buckets()) {
    ctx.stream->wait(*pending[static_cast<std::size_t>(bucket.index)]);
    apply(bucket);
  }
}

void gradient_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange) {
  exchange_step(
      ctx, run, comm, exchange, [](Bucket& bucket) { return bucket.grad; },
      [&](Bucket& bucket) { run.optimizer.step(ctx, bucket); });
}

void step_exchanged(Context ctx, Run& run, Stream& comm, const Exchange& exchange) {
  std::vector<std::shared_ptr<Work>> pending;
  for (Bucket& bucket : run.workload.buckets())
    pending.push_back(begin_exchange(comm, ctx, run, bucket.grad, bucket.index, exchange));
  for (Bucket& bucket : run.workload.buckets()) {
    ctx.stream->wait(*pending[static_cast<std::size_t>(bucket.index)]);
    run.optimizer.step(ctx, bucket);
  }
}

void moment_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange) {
  exchange_step(
      ctx, run, comm, exchange,
      [&](Bucket& bucket) {
        run.optimizer.accumulate(ctx, bucket);
        return run.optimizer.moment(bucket);
      },
      [&](Bucket& bucket) { run.optimizer.advance(ctx, bucket); });
}

void model_step(Context ctx, Run& run, Stream& comm, const Tensor& exchanged,
                const Exchange& exchange) {
  if (run.execution.model_bucket_bytes)
    return model_step_by_part(ctx, run, comm, exchanged, exchange);
  const Tensor weights = run.workload.weights();
  auto issue = [&] {
    ctx.device->copy(exchanged, weights);
    return begin_exchange(comm, ctx, run, exchanged, 0, exchange);
  };
  std::shared_ptr<Work> pending;
  if (run.execution.overlap) pending = issue();
  compute_gradients(ctx, run);
  if (!run.execution.overlap) pending = issue();
  ctx.stream->wait(*pending);
  ctx.device->copy(weights, exchanged);
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
  std::vector<std::shared_ptr<Work>> pending;
  int index = 0;
  for (const Tensor& part : cut_like_parts(run, x))
    pending.push_back(begin_exchange(comm, ctx, run, part, index++, exchange));
  for (const auto& work : pending) ctx.stream->wait(*work);
}

}  // namespace trigram
