#pragma once

#include <memory>
#include <vector>

#include "core/workloads/bucketing.h"
#include "core/workloads/model.h"

namespace trigram {

/// The workload of a real model. The rank's device runs the model's operations and charges for
/// them.
class ModelWorkload final : public FlatWorkload {
 public:
  ModelWorkload(const Context& ctx, std::unique_ptr<Model> model, bool values);

  void forward(Context ctx) override;
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override;
  double loss() override { return model_->loss(); }
  bool has_values() const override { return values_; }
  Quality evaluate(std::span<const float> weights, std::size_t most) override;
  std::size_t batch() const override { return model_->batch(); }

 private:
  std::unique_ptr<Model> model_;
  bool values_;
};

}  // namespace trigram
