#pragma once

#include "core/optimizer.h"
#include "core/optimizers/schedule.h"

namespace trigram {

struct SgdOptions {
  double lr = 0.1;
  double momentum = 0;
  double weight_decay = 0;
  Schedule schedule;
};
FieldTable<SgdOptions> sgd_fields();

/// Stochastic gradient descent with heavy-ball momentum (Polyak, 1964) and weight decay, in the
/// form of SgdStep. The constructor allocates and zeroes the momentum of every bucket.
class Sgd final : public Optimizer {
 public:
  Sgd(const SgdOptions& options, const Context& ctx, Workload& workload, long steps);
  void step(Context ctx, Bucket& bucket) override;
  float learning_rate(const Bucket& bucket) const override;
  Tensor moment(const Bucket& bucket) const override;
  void accumulate(Context ctx, Bucket& bucket) override;
  using Optimizer::advance;
  void advance(Context ctx, Bucket& bucket, float lr) override;

 private:
  struct State {
    Tensor momentum;  // of length 0 if there is no momentum
    long steps = 0;
  };

  SgdOptions options_;
  LearningRate lr_;
  PerBucket<State> states_;
};

}  // namespace trigram
