#include "algorithms/primitives/push_pull_queue.h"

namespace trigram {

PushPullQueue::PushPullQueue(Context ctx, Stream& comm, Run& run, const Servers& servers,
                             PushPull::Options options)
    : comm_(comm), run_(run), updated_(0) {
  options.by_stages = options.acknowledged && ctx.comm->buffered(1) > 0;
  if (options.by_stages)
    for (const char* stage : {"acknowledgements", "requests", "answers"})
      later_.push_back(ctx.stream->fork(stage));
  rounds_ = std::make_shared<const PushPull>(ctx, run.workload.buckets(), servers, options);
  order_ = rounds_->order();
  updated_ = order_.size();
}

void PushPullQueue::begin() {
  issued_.clear();
  updated_ = 0;
}

void PushPullQueue::issue(Context ctx, int ready) {
  for (std::size_t r = issued_.size(); r < rounds_->exchanges() && rounds_->needs(r) <= ready; ++r)
    issued_.push_back(submit(ctx, r));
}

std::shared_ptr<Work> PushPullQueue::submit(Context ctx, std::size_t r) {
  using Stage = PushPull::Stage;
  if (later_.empty())
    return comm_.submit(ctx, [rounds = rounds_, r](Context c) { rounds->exchange(c, r); });
  auto work =
      comm_.submit(ctx, [rounds = rounds_, r](Context c) { rounds->make(Stage::push, c, r); });
  Stage stages[] = {Stage::acknowledge, Stage::request, Stage::answer};
  for (std::size_t s = 0; s < later_.size(); ++s)
    work =
        later_[s]->submit(ctx, [rounds = rounds_, before = work, stage = stages[s], r](Context c) {
          c.stream->wait(*before);
          rounds->make(stage, c, r);
        });
  return work;
}

void PushPullQueue::issue_all(Context ctx) { issue(ctx, run_.workload.buckets().back().index); }

void PushPullQueue::update(Context ctx, const Bucket& bucket) {
  for (; updated_ < order_.size(); ++updated_) {
    Bucket& next = run_.workload.buckets()[static_cast<std::size_t>(order_[updated_])];
    const std::size_t back = rounds_->completes(next.index);
    if (back > rounds_->completes(bucket.index)) return;
    ctx.stream->wait(*issued_[back]);
    run_.optimizer.step(ctx, next);
  }
}

void PushPullQueue::update_all(Context ctx) {
  for (const Bucket& bucket : run_.workload.buckets()) update(ctx, bucket);
}

void PushPullQueue::serve(Context ctx) {
  issued_.clear();
  issue_all(ctx);
  ctx.stream->wait(*issued_.back());
}

}  // namespace trigram
