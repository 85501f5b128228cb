#pragma once

#include "core/optimizer.h"
#include "core/optimizers/schedule.h"

namespace trigram {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  Schedule schedule;
};
FieldTable<AdamOptions> adam_fields();

/// Adam (arXiv 1412.6980), or AdamW (arXiv 1711.05101) if the weight decay is decoupled from the
/// gradient, in the form of AdamStep. The constructor allocates and zeroes the moments of every
/// bucket.
class Adam final : public Optimizer {
 public:
  enum class WeightDecay { in_gradient, decoupled };
  Adam(const AdamOptions& options, WeightDecay kind, const Context& ctx, Workload& workload,
       long steps);
  void step(Context ctx, Bucket& bucket) override;
  float learning_rate(const Bucket& bucket) const override;
  Tensor moment(const Bucket& bucket) const override;
  void accumulate(Context ctx, Bucket& bucket) override;
  using Optimizer::advance;
  void advance(Context ctx, Bucket& bucket, float lr) override;
  void freeze_corrections() override { variance_correction_frozen_ = true; }

 private:
  struct State {
    Tensor mean, variance;
    double beta1_power = 1, beta2_power = 1;  // beta^steps
    long steps = 0;
  };
  /// Counts a step of a bucket and returns its parameters. `updates_variance` is false in
  /// `advance`.
  AdamStep next_step(State& state, float lr, bool updates_variance) const;

  AdamOptions options_;
  WeightDecay kind_;
  LearningRate lr_;
  PerBucket<State> states_;
  bool variance_correction_frozen_ = false;
};

}  // namespace trigram
