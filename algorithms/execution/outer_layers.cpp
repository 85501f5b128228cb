#include "algorithms/execution/outer_layers.h"

#include <utility>

#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"

namespace trigram {

OuterLayers::OuterLayers(Context ctx, Run& run, const Options& options, Exchange average)
    : options_(options),
      comm_(ctx.stream->fork("comm")),
      average_(across(run.execution, std::move(average))),
      pending_(run.workload.buckets().size()) {
  const Tensor weights = run.workload.weights();
  parameters_ = run.state.copy_of(ctx, "outer", weights);
  outer_ = cut_like_buckets(run, parameters_);
  momentum_ = cut_like_buckets(run, run.state.zeros_like(ctx, "momentum", weights));
  sent_ = cut_like_buckets(run, run.state.zeros_like(ctx, "sent", weights));
}

void OuterLayers::send(Context ctx, Run& run, const Bucket& layer, long step) {
  const auto i = static_cast<std::size_t>(layer.index);
  if (!due(i, step)) return;
  ctx.device->copy(sent_[i], outer_[i]);
  ctx.device->axpby(-1, layer.weight, 1, sent_[i]);
  pending_[i] = begin_exchange(*comm_, ctx, run, sent_[i], layer.index, average_);
}

void OuterLayers::receive(Context ctx, const Bucket& layer, long step) {
  const auto i = static_cast<std::size_t>(layer.index);
  if (!due(i, step - options_.overlap_steps)) return;
  wait(ctx, i);
  outer_step(*ctx.device, options_.outer, sent_[i], outer_[i], momentum_[i]);
  const float alpha = options_.mixing;
  if (alpha > 0) ctx.device->axpby(1 - alpha, outer_[i], alpha, layer.weight);
  else ctx.device->copy(layer.weight, outer_[i]);
}

void OuterLayers::finish(Context ctx) {
  for (std::size_t i = 0; i < pending_.size(); ++i) wait(ctx, i);
}

bool OuterLayers::due(std::size_t layer, long step) const {
  const FragmentSchedule& schedule = options_.schedule;
  return schedule.due(schedule.fragment_of(layer, pending_.size()), step);
}

void OuterLayers::wait(Context ctx, std::size_t layer) {
  if (const auto work = std::exchange(pending_[layer], nullptr)) ctx.stream->wait(*work);
}

}  // namespace trigram
