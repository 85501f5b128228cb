#include "algorithms/asynchronous/shared_model.h"

#include "algorithms/execution/steps.h"

namespace trigram {

SharedModel::SharedModel(Context ctx, Run& run)
    : weights_(run.workload.weights()),
      model_(ctx.device->empty_like(weights_)),
      change_(ctx.device->empty_like(weights_)),
      guard_(ctx.stream->make_mutex()),
      steps_(run.steps) {
  ctx.device->copy(model_, weights_);
}

void SharedModel::step(Context ctx, Run& run) {
  ctx.device->copy(change_, weights_);
  local_step(ctx, run);
  ctx.device->axpby(1, weights_, -1, change_);
  Lock lock(*guard_);
  ctx.device->axpby(1, change_, 1, model_);
  ctx.device->copy(weights_, model_);
}

void SharedModel::read(Context ctx) {
  Lock lock(*guard_);
  ctx.device->copy(weights_, model_);
}

void SharedModel::snapshot(Context c, const Tensor& copy, long& taken_at) {
  Lock lock(*guard_);
  c.device->copy(copy, model_);
  taken_at = steps_.current();
}

void SharedModel::add(Context c, const Tensor& change, long taken_at) {
  Lock lock(*guard_);
  c.device->axpby(1, change, 1, model_);
  steps_.record_staleness(steps_.current() - taken_at);
}

}  // namespace trigram
