#include "algorithms/asynchronous/late_contributions.h"

#include <utility>

namespace trigram {

LateGradients::LateGradients(Context ctx, Run& run)
    : steps_(run.steps),
      guard_(ctx.stream->make_mutex()),
      state_(run.state),
      waiting_(state_.zeros_like(ctx, "waiting", run.workload.gradients())),
      newest_(state_.value<long>("newest", -1)),
      taken_(state_.value<long>("taken", -1)) {
  for (Tensor* x : {&working_, &received_}) *x = ctx.device->zeros_like(run.workload.gradients());
}

void LateGradients::add(Context ctx, const Tensor& gradient, long step) {
  Lock lock(*guard_);
  ctx.device->axpby(1, gradient, 1, waiting_);
  newest_ = step;
}

void LateGradients::sum(Context ctx, long step, const AllreduceSpec& algorithm) {
  {
    Lock lock(*guard_);
    std::swap(working_, waiting_);
    ctx.device->fill(waiting_, 0);
    while (taken_ < newest_) steps_.record_staleness(step - ++taken_);
  }
  allreduce(ctx, working_, Reduce::sum, algorithm);
  Lock lock(*guard_);
  ctx.device->axpby(1, working_, 1, received_);
}

void LateGradients::take_mean(Context ctx, const Tensor& gradient) {
  Lock lock(*guard_);
  ctx.device->axpby(1.0f / static_cast<float>(ctx.world_size), received_, 0, gradient);
  ctx.device->fill(received_, 0);
}

LateModels::LateModels(Context ctx, const Tensor& weights, const TrainingState& state)
    : guard_(ctx.stream->make_mutex()),
      state_(state),
      model_(state.copy_of(ctx, "model", weights)),
      working_(ctx.device->empty_like(weights)),
      sum_(ctx.device->empty_like(weights)),
      model_step_(state.value<long>("model step", -1)) {}

void LateModels::contribute(Context ctx, const Tensor& weights, long step) {
  Lock lock(*guard_);
  ctx.device->copy(model_, weights);
  model_step_ = step;
}

void LateModels::sum(Context ctx, const std::function<void(const Tensor&)>& add_up) {
  long step = 0;
  {
    Lock lock(*guard_);
    ctx.device->copy(working_, model_);
    step = model_step_;
  }
  add_up(working_);
  Lock lock(*guard_);
  std::swap(working_, sum_);
  sum_step_ = step;
}

void LateModels::average(const std::function<void(const Tensor&)>& average) {
  Lock lock(*guard_);  // ordered after everything that the worker has issued
  average(model_);
}

void LateModels::take(Context ctx, const Tensor& weights) {
  Lock lock(*guard_);
  ctx.device->copy(weights, model_);
}

long LateModels::merge(Context ctx, const Tensor& weights, int S, long step) {
  Lock lock(*guard_);
  const bool late = sum_step_ != step;
  const float share = 1.0f / static_cast<float>(late ? S + 1 : S);
  ctx.device->axpby(share, sum_, late ? share : 0, weights);
  return step - sum_step_;
}

}  // namespace trigram
