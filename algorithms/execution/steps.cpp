#include <memory>
#include <vector>

#include "algorithms/execution/execution.h"

namespace trigram {

CodecKey codec_key(const Context& ctx, std::uint64_t seed, Slot slot) {
  constexpr long kBuckets = 1 << 16;
  return {seed, ctx.world_rank, slot.step * kBuckets + slot.bucket};
}

namespace {

/// Forward, backward; `exchanged(bucket)` on `comm` as soon as a bucket is ready, or only after
/// backward; `apply(bucket)` as soon as it is back: early buckets step while late ones travel.
template <class Exchanged, class Apply>
void bucket_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange,
                 const Exchanged& exchanged, const Apply& apply) {
  std::vector<std::shared_ptr<Work>> pending;
  auto issue = [&](Bucket& bucket) {
    const Slot slot{bucket.index, run.steps.current()};
    pending.push_back(comm.submit(
        ctx, [exchange, x = exchanged(bucket), slot](Context c) { exchange(c, x, slot); }));
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

}  // namespace

void gradient_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange) {
  bucket_step(
      ctx, run, comm, exchange, [](Bucket& bucket) { return bucket.grad; },
      [&](Bucket& bucket) { run.optimizer.step(ctx, bucket); });
}

void moment_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange) {
  bucket_step(
      ctx, run, comm, exchange,
      [&](Bucket& bucket) {
        run.optimizer.accumulate(ctx, bucket);
        return run.optimizer.moment(bucket);
      },
      [&](Bucket& bucket) { run.optimizer.advance(ctx, bucket); });
}

void model_step(Context ctx, Run& run, Stream& comm, const Tensor& exchanged,
                const Exchange& exchange) {
  const Tensor weights = run.workload.weights();
  auto issue = [&] {
    ctx.device->copy(exchanged, weights);
    const Slot slot{0, run.steps.current()};
    return comm.submit(ctx,
                       [exchange, exchanged, slot](Context c) { exchange(c, exchanged, slot); });
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
  const Slot slot{0, run.steps.current()};
  const auto pending = comm.submit(ctx, [exchange, x, slot](Context c) { exchange(c, x, slot); });
  ctx.stream->wait(*pending);
}

}  // namespace trigram
