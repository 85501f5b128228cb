#include "core/optimizers/registry.h"
#include "core/optimizers/schedule.h"

namespace trigram {
namespace {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  Schedule schedule;
};

FieldTable<AdamOptions> adam_fields() {
  constexpr double kBelowOne = 0.9999999;
  return FieldTable<AdamOptions>{}
      .field("lr", &AdamOptions::lr, number(0, 1e6), "learning rate")
      .field("beta1", &AdamOptions::beta1, number(0, kBelowOne), "decay of the mean of gradients")
      .field("beta2", &AdamOptions::beta2, number(0, kBelowOne), "decay of the mean of squares")
      .field("eps", &AdamOptions::eps, number(0, 1), "added to the root of the mean square")
      .field("weight_decay", &AdamOptions::weight_decay, number(0, 1e6),
             "adam: weight_decay times the weight is added to its gradient; adamw: each step also "
             "shrinks the weight by lr * weight_decay of its value")
      .include(&AdamOptions::schedule, schedule_fields());
}

/// Adam (arXiv 1412.6980), or AdamW (arXiv 1711.05101) if the weight decay is decoupled from the
/// gradient, in the form of AdamStep. The constructor allocates and zeroes the moments of every
/// bucket.
class Adam final : public Optimizer {
 public:
  enum class WeightDecay { in_gradient, decoupled };
  Adam(const AdamOptions& options, WeightDecay kind, const Context& ctx, Workload& workload,
       long steps)
      : options_(options),
        kind_(kind),
        lr_(options.lr, options.schedule, ctx.world_size, steps),
        states_(workload) {
    for (const Bucket& bucket : workload.buckets()) {
      State& state = states_[bucket];
      for (Tensor* moment : {&state.mean, &state.variance}) {
        *moment = ctx.device->empty_like(bucket.weight);
        ctx.device->fill(*moment, 0);
      }
    }
  }
  void step(Context ctx, Bucket& bucket) override {
    State& state = states_[bucket];
    ctx.device->update(next_step(state, learning_rate(bucket), /*updates_variance=*/true),
                       bucket.weight, bucket.grad, {state.mean, state.variance});
  }
  float learning_rate(const Bucket& bucket) const override { return lr_.at(states_[bucket].steps); }
  Tensor moment(const Bucket& bucket) const override { return states_[bucket].mean; }
  void accumulate(Context ctx, Bucket& bucket) override {
    const Tensor& mean = states_[bucket].mean;
    const auto beta1 = static_cast<float>(options_.beta1);
    ctx.device->axpby(1 - beta1, bucket.grad, beta1, mean);
    if (options_.weight_decay != 0 && kind_ == WeightDecay::in_gradient)
      ctx.device->axpby((1 - beta1) * static_cast<float>(options_.weight_decay), bucket.weight, 1,
                        mean);
  }
  using Optimizer::advance;
  void advance(Context ctx, Bucket& bucket, float lr) override {
    State& state = states_[bucket];
    AdamStep step = next_step(state, lr, /*updates_variance=*/false);
    step.beta1 = step.beta2 = 1;  // the moments stay as they are
    step.weight_decay = 0;        // already included in the moment
    ctx.device->update(step, bucket.weight, bucket.grad, {state.mean, state.variance});
  }
  void freeze_corrections() override { variance_correction_frozen_ = true; }
  void rebucket(Context ctx, Workload& workload) override {
    states_.rebucket(*ctx.device, workload, vectors_of);
  }
  void visit_state(StateVisitor& visitor) override {
    states_.visit(visitor, vectors_of);
    for (State& state : states_.all()) {
      visitor.value(fmt::format("beta1 power {}", &state - states_.all().data()),
                    state.beta1_power);
      visitor.value(fmt::format("beta2 power {}", &state - states_.all().data()),
                    state.beta2_power);
    }
    visitor.value("variance correction frozen", variance_correction_frozen_);
  }

 private:
  struct State {
    Tensor mean, variance;
    double beta1_power = 1, beta2_power = 1;  // beta^steps
    long steps = 0;
  };
  static std::vector<Tensor*> vectors_of(State& state) { return {&state.mean, &state.variance}; }
  /// Counts a step of a bucket and returns its parameters. `updates_variance` is false in
  /// `advance`.
  AdamStep next_step(State& state, float lr, bool updates_variance) const {
    ++state.steps;
    state.beta1_power *= options_.beta1;
    if (updates_variance || !variance_correction_frozen_) state.beta2_power *= options_.beta2;
    const auto decay = static_cast<float>(options_.weight_decay);
    const bool decoupled = kind_ == WeightDecay::decoupled;
    return {.lr = lr,
            .beta1 = static_cast<float>(options_.beta1),
            .beta2 = static_cast<float>(options_.beta2),
            .eps = static_cast<float>(options_.eps),
            .correction1 = static_cast<float>(1 - state.beta1_power),
            .correction2 = static_cast<float>(1 - state.beta2_power),
            .weight_decay = decoupled ? 0 : decay,
            .decoupled_weight_decay = decoupled ? decay : 0};
  }

  AdamOptions options_;
  WeightDecay kind_;
  LearningRate lr_;
  PerBucket<State> states_;
  bool variance_correction_frozen_ = false;
};

OptimizerEntry entry_of_kind(std::string name, std::string doc, Adam::WeightDecay kind) {
  return {
      component<Optimizer, const Context&, Workload&, long>(
          std::move(name), std::move(doc), adam_fields(),
          [kind](const AdamOptions& options, const Context& ctx, Workload& workload, long steps) {
            return std::make_unique<Adam>(options, kind, ctx, workload, steps);
          }),
      [](const Json&) { return true; }, true};
}

}  // namespace

OptimizerEntry adam_entry() {
  return entry_of_kind("adam", "Adam (arXiv 1412.6980)", Adam::WeightDecay::in_gradient);
}

OptimizerEntry adamw_entry() {
  return entry_of_kind("adamw", "Adam with decoupled weight decay (arXiv 1711.05101)",
                       Adam::WeightDecay::decoupled);
}

}  // namespace trigram
