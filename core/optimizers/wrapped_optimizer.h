#pragma once

#include <memory>
#include <utility>

#include "core/optimizer.h"

namespace trigram {

/// Owns another optimizer and forwards all calls to it. A derived class overrides some functions.
class WrappedOptimizer : public Optimizer {
 public:
  void step(Context ctx, Bucket& bucket) override { optimizer_->step(ctx, bucket); }
  float learning_rate(const Bucket& bucket) const override {
    return optimizer_->learning_rate(bucket);
  }
  bool needs_all_gradients() const override { return optimizer_->needs_all_gradients(); }
  Tensor moment(const Bucket& bucket) const override { return optimizer_->moment(bucket); }
  void accumulate(Context ctx, Bucket& bucket) override { optimizer_->accumulate(ctx, bucket); }
  using Optimizer::advance;
  void advance(Context ctx, Bucket& bucket, float lr) override {
    optimizer_->advance(ctx, bucket, lr);
  }
  void freeze_corrections() override { optimizer_->freeze_corrections(); }
  void rebucket(Context ctx, Workload& workload) override { optimizer_->rebucket(ctx, workload); }
  void visit_state(StateVisitor& visitor) override { optimizer_->visit_state(visitor); }

 protected:
  explicit WrappedOptimizer(std::unique_ptr<Optimizer> optimizer)
      : optimizer_(std::move(optimizer)) {}
  Optimizer& inner() { return *optimizer_; }

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace trigram
