#include "algorithms/execution/parts.h"

namespace trigram {

std::vector<Part> parts_of(Run& run) {
  const std::span<Bucket> buckets = run.workload.buckets();
  if (!run.execution.model_bucket_bytes) return {{0, run.workload.weights(), buckets}};
  std::vector<Part> parts;
  for (Bucket& bucket : buckets) parts.push_back({bucket.index, bucket.weight, {&bucket, 1}});
  return parts;
}

std::vector<Tensor> cut_like_parts(Run& run, const Tensor& x) {
  return run.execution.model_bucket_bytes ? cut_like_buckets(run, x) : std::vector{x};
}

std::vector<Tensor> cut_like_buckets(Run& run, const Tensor& x) {
  std::vector<Tensor> pieces;
  std::size_t begin = 0;
  for (const Bucket& bucket : run.workload.buckets()) {
    pieces.push_back(x.slice(begin, bucket.weight.numel(), bucket.weight.priced_numel()));
    begin += bucket.weight.numel();
  }
  return pieces;
}

void backward_by_bucket(Context ctx, Run& run, const std::function<void(Bucket&)>& ready) {
  if (run.execution.overlap && !run.optimizer.needs_all_gradients())
    return run.workload.backward(ctx, ready);
  run.workload.backward(ctx, [](Bucket&) {});
  for (Bucket& bucket : run.workload.buckets()) ready(bucket);
}

void compute_by_part(Context ctx, Run& run, const std::function<void(const Part&)>& ready,
                     bool steps) {
  run.workload.forward(ctx);
  const std::vector<Part> parts = parts_of(run);
  const bool early = !(steps && run.optimizer.needs_all_gradients());
  if (run.execution.model_bucket_bytes && run.execution.overlap && early) {
    run.workload.backward(
        ctx, [&](Bucket& bucket) { ready(parts[static_cast<std::size_t>(bucket.index)]); });
    return;
  }
  run.workload.backward(ctx, [](Bucket&) {});
  for (const Part& part : parts) ready(part);
}

void optimizer_step(Context ctx, Run& run, const Part& part) {
  for (Bucket& bucket : part.buckets) run.optimizer.step(ctx, bucket);
}

void local_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange, bool due) {
  WorkList pending;
  compute_by_part(ctx, run, [&](const Part& part) {
    optimizer_step(ctx, run, part);
    if (due) pending.push_back(begin_exchange(comm, ctx, run, part.weights, part.index, exchange));
  });
  wait_for(ctx, pending);
}

std::shared_ptr<Work> begin_exchange(Stream& comm, Context ctx, Run& run, const Tensor& x,
                                     int index, const Exchange& exchange) {
  const Slot slot{index, run.steps.current()};
  return comm.submit(ctx, [exchange, x, slot](Context c) { exchange(c, x, slot); });
}

}  // namespace trigram
