#include "algorithms/servers/push_pull_queue.h"

namespace trigram {

PushPullQueue::PushPullQueue(Context ctx, Stream& comm, Run& run, const Servers& servers,
                             PushPull::Options options)
    : comm_(comm), run_(run), updated_(0) {
  options.by_stages = options.acknowledged && ctx.comm->buffered(1) > 0;
  if (options.by_stages) {
    for (const char* stage : {"pushes", "acknowledgements", "requests", "answers"})
      channels_.push_back(ctx.stream->fork_one_way(stage));
    if (options.execution.hierarchical) broadcasts_ = ctx.stream->fork("broadcasts");
  }
  rounds_ = std::make_shared<const PushPull>(ctx, run.workload.buckets(), servers, options);
  order_ = rounds_->order();
  updated_ = order_.size();
}

void PushPullQueue::begin() {
  issued_.clear();
  updated_ = 0;
}

void PushPullQueue::issue(Context ctx, int ready) {
  for (std::size_t r = issued_.size(); r < rounds_->exchanges() && rounds_->last_bucket(r) <= ready;
       ++r)
    issued_.push_back(submit(ctx, r));
}

WorkList PushPullQueue::submit(Context ctx, std::size_t r) {
  if (!channels_.empty()) return submit_stages(ctx, r);
  return {comm_.submit(ctx, [rounds = rounds_, r](Context c) { rounds->exchange(c, r); })};
}

/// Receives are posted ahead. The exception is an answer: it is received into the memory of the
/// push, so its receive is posted only after the push has been sent.
WorkList PushPullQueue::submit_stages(Context ctx, std::size_t r) {
  using Stage = PushPull::Stage;
  const PushPull& rounds = *rounds_;
  const auto submit = [&](Stream& stream, const WorkList& before, auto task) {
    return stream.submit(ctx, [owned = rounds_, before, task](Context c) {
      wait_for(c, before);
      task(c);
    });
  };
  const auto send = [&](Stage stage, const WorkList& before) {
    return submit(*channels_[static_cast<std::size_t>(stage)].out, before,
                  [&rounds, stage, r](Context c) { rounds.send(stage, c, r); });
  };
  const auto receive = [&](Stage stage, const WorkList& before) {
    return submit(*channels_[static_cast<std::size_t>(stage)].in, before,
                  [&rounds, stage, r](Context c) { rounds.receive(stage, c, r); });
  };
  WorkList reduced;
  if (broadcasts_) reduced = {submit(comm_, {}, [&rounds, r](Context c) { rounds.reduce(c, r); })};
  const auto pushed = send(Stage::push, reduced);
  const auto averaged = receive(Stage::push, reduced);
  send(Stage::acknowledge, {averaged});
  send(Stage::request, {receive(Stage::acknowledge, {})});
  const auto answered = send(Stage::answer, {receive(Stage::request, {})});
  const WorkList completed = {receive(Stage::answer, {pushed}), answered, averaged};
  if (!broadcasts_) return completed;
  return {submit(*broadcasts_, completed, [&rounds, r](Context c) { rounds.broadcast(c, r); })};
}

void PushPullQueue::issue_all(Context ctx) { issue(ctx, run_.workload.buckets().back().index); }

void PushPullQueue::update(Context ctx, const Bucket& bucket) {
  const bool all = run_.optimizer.needs_all_gradients();
  if (all && updated_ < order_.size())
    for (const WorkList& exchange : issued_) wait_for(ctx, exchange);
  for (; updated_ < order_.size(); ++updated_) {
    Bucket& next = run_.workload.buckets()[static_cast<std::size_t>(order_[updated_])];
    const std::size_t exchange = rounds_->completing_exchange(next.index);
    if (!all && exchange > rounds_->completing_exchange(bucket.index)) return;
    wait_for(ctx, issued_[exchange]);
    run_.optimizer.step(ctx, next);
  }
}

void PushPullQueue::update_all(Context ctx) {
  for (const Bucket& bucket : run_.workload.buckets()) update(ctx, bucket);
}

void PushPullQueue::serve(Context ctx) {
  issued_.clear();
  issue_all(ctx);
  wait_for(ctx, issued_.back());
}

}  // namespace trigram
