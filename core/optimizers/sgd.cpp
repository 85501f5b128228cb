#include "core/optimizers/sgd.h"

namespace trigram {

FieldTable<SgdOptions> sgd_fields() {
  return FieldTable<SgdOptions>{}
      .field("lr", &SgdOptions::lr, number(0, 1e6), "learning rate")
      .field("momentum", &SgdOptions::momentum, number(0, 1),
             "share of the previous update that is kept")
      .field("weight_decay", &SgdOptions::weight_decay, number(0, 1e6),
             "weight_decay times the weight is added to its gradient")
      .include(&SgdOptions::schedule, schedule_fields());
}

Sgd::Sgd(const SgdOptions& options, const Context& ctx, Workload& workload, long steps)
    : options_(options),
      lr_(options.lr, options.schedule, ctx.world_size, steps),
      states_(workload) {
  if (options.momentum == 0) return;
  for (const Bucket& bucket : workload.buckets()) {
    Tensor& momentum = states_[bucket].momentum;
    momentum = ctx.device->empty_like(bucket.weight);
    ctx.device->fill(momentum, 0);
  }
}

void Sgd::step(Context ctx, Bucket& bucket) {
  State& state = states_[bucket];
  const SgdStep step{.lr = lr_.at(state.steps++),
                     .momentum = static_cast<float>(options_.momentum),
                     .weight_decay = static_cast<float>(options_.weight_decay)};
  ctx.device->sgd(step, bucket.weight, bucket.grad, state.momentum);
}

float Sgd::learning_rate(const Bucket& bucket) const { return lr_.at(states_[bucket].steps); }

Tensor Sgd::moment(const Bucket& bucket) const { return states_[bucket].momentum; }

void Sgd::accumulate(Context ctx, Bucket& bucket) {
  const Tensor& m = states_[bucket].momentum;
  ctx.device->axpby(1, bucket.grad, static_cast<float>(options_.momentum), m);
  if (options_.weight_decay != 0)
    ctx.device->axpby(static_cast<float>(options_.weight_decay), bucket.weight, 1, m);
}

void Sgd::advance(Context ctx, Bucket& bucket, float lr) {
  State& state = states_[bucket];
  ++state.steps;
  ctx.device->axpby(-lr, state.momentum, 1, bucket.weight);
}

}  // namespace trigram
