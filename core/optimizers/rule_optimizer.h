#pragma once

#include <type_traits>
#include <vector>

#include "core/optimizers/registry.h"
#include "core/optimizers/schedule.h"

namespace trigram {

/// 1 - beta^steps, by which Adam divides a moving average that started at 0. Computed without the
/// mathematical library, whose last bit differs between versions.
inline double bias_correction(double beta, long steps) {
  double power = 1;
  for (; steps > 0; steps /= 2, beta *= beta)
    if (steps % 2 == 1) power *= beta;
  return 1 - power;
}

/// An optimizer whose step of a bucket is one update rule, element-wise or with norms of tensors.
/// `Options` has the members `lr` and `schedule`, and `rule(lr, steps)`, which returns the rule of
/// step number `steps`, counted from 1. The constructor allocates and zeroes the states of every
/// bucket.
template <class Options>
class RuleOptimizer final : public Optimizer {
 public:
  RuleOptimizer(const Options& options, const Context& ctx, Workload& workload, long steps)
      : options_(options),
        lr_(options.lr, options.schedule, ctx.world_size, steps),
        states_(workload) {
    for (const Bucket& bucket : workload.buckets()) {
      for (std::size_t i = 0; i < Rule::kStates.size(); ++i)
        states_[bucket].tensors.push_back(ctx.device->zeros_like(bucket.weight));
    }
  }
  void step(Context ctx, Bucket& bucket) override {
    State& state = states_[bucket];
    const float lr = learning_rate(bucket);
    const Rule rule = options_.rule(lr, ++state.steps);
    const std::span<const Tensor> states = state.tensors;
    if constexpr (std::is_constructible_v<UpdateRule, Rule>)
      ctx.device->update(rule, bucket.weight, bucket.grad, states);
    else ctx.device->update_each(rule, bucket.weight, bucket.grad, states, bucket.tensors);
  }
  float learning_rate(const Bucket& bucket) const override { return lr_.at(states_[bucket].steps); }
  void rebucket(Context ctx, Workload& workload) override {
    states_.rebucket(*ctx.device, workload, vectors_of);
  }
  void visit_state(StateVisitor& visitor) override { states_.visit(visitor, vectors_of); }

 private:
  using Rule = decltype(std::declval<Options>().rule(0.0f, 1L));
  struct State {
    std::vector<Tensor> tensors;
    long steps = 0;
  };
  static std::vector<Tensor*> vectors_of(State& state) {
    std::vector<Tensor*> vectors;
    for (Tensor& tensor : state.tensors) vectors.push_back(&tensor);
    return vectors;
  }

  Options options_;
  LearningRate lr_;
  PerBucket<State> states_;
};

/// An optimizer that has no moment to exchange.
template <class Options>
OptimizerEntry rule_optimizer_entry(std::string name, std::string doc, FieldTable<Options> fields,
                                    bool has_variance, OptimizerEntry::Needs needs) {
  return {component<Optimizer, const Context&, Workload&, long>(
              std::move(name), std::move(doc), std::move(fields),
              [](const Options& options, const Context& ctx, Workload& workload, long steps) {
                return std::make_unique<RuleOptimizer<Options>>(options, ctx, workload, steps);
              }),
          [](const Json&) { return false; }, has_variance, needs};
}

}  // namespace trigram
