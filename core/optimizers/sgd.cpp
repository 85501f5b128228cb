#include "core/optimizers/registry.h"
#include "core/optimizers/schedule.h"

namespace trigram {
namespace {

struct SgdOptions {
  double lr = 0.1;
  double momentum = 0;
  double weight_decay = 0;
  Schedule schedule;
};

FieldTable<SgdOptions> sgd_fields() {
  return FieldTable<SgdOptions>{}
      .field("lr", &SgdOptions::lr, number(0, 1e6), "learning rate")
      .field("momentum", &SgdOptions::momentum, number(0, 1),
             "share of the previous update that is kept")
      .field("weight_decay", &SgdOptions::weight_decay, number(0, 1e6),
             "weight_decay times the weight is added to its gradient")
      .include(&SgdOptions::schedule, schedule_fields());
}

/// Stochastic gradient descent with weight decay (SgdStep), and momentum if the option is not 0
/// (MomentumStep). The constructor allocates and zeroes the momentum of every bucket.
class Sgd final : public Optimizer {
 public:
  Sgd(const SgdOptions& options, const Context& ctx, Workload& workload, long steps)
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
  void step(Context ctx, Bucket& bucket) override {
    State& state = states_[bucket];
    const float lr = lr_.at(state.steps++), momentum = static_cast<float>(options_.momentum),
                decay = static_cast<float>(options_.weight_decay);
    if (momentum == 0) return ctx.device->update(SgdStep{lr, decay}, bucket.weight, bucket.grad);
    ctx.device->update(MomentumStep{lr, momentum, decay}, bucket.weight, bucket.grad,
                       {state.momentum});
  }
  float learning_rate(const Bucket& bucket) const override { return lr_.at(states_[bucket].steps); }
  Tensor moment(const Bucket& bucket) const override { return states_[bucket].momentum; }
  void accumulate(Context ctx, Bucket& bucket) override {
    const Tensor& m = states_[bucket].momentum;
    ctx.device->axpby(1, bucket.grad, static_cast<float>(options_.momentum), m);
    if (options_.weight_decay != 0)
      ctx.device->axpby(static_cast<float>(options_.weight_decay), bucket.weight, 1, m);
  }
  using Optimizer::advance;
  void advance(Context ctx, Bucket& bucket, float lr) override {
    State& state = states_[bucket];
    ++state.steps;
    ctx.device->axpby(-lr, state.momentum, 1, bucket.weight);
  }
  void rebucket(Context ctx, Workload& workload) override {
    states_.rebucket(*ctx.device, workload, [this](State& state) { return vectors_of(state); });
  }
  void visit_state(StateVisitor& visitor) override {
    states_.visit(visitor, [this](State& state) { return vectors_of(state); });
  }

 private:
  struct State {
    Tensor momentum;  // of length 0 if there is no momentum
    long steps = 0;
  };
  std::vector<Tensor*> vectors_of(State& state) const {
    return options_.momentum == 0 ? std::vector<Tensor*>{} : std::vector{&state.momentum};
  }

  SgdOptions options_;
  LearningRate lr_;
  PerBucket<State> states_;
};

}  // namespace

OptimizerEntry sgd_entry() {
  return {component<Optimizer, const Context&, Workload&, long>(
              "sgd", "stochastic gradient descent with momentum and weight decay", sgd_fields(),
              [](const SgdOptions& options, const Context& ctx, Workload& workload, long steps) {
                return std::make_unique<Sgd>(options, ctx, workload, steps);
              }),
          [](const Json& resolved) { return resolved.at("momentum") != 0; }, false,
          OptimizerEntry::Needs::elements,
          [](const Json& resolved) { return resolved.at("momentum") != 0; }};
}

}  // namespace trigram
