#pragma once

#include <memory>
#include <utility>

#include "core/workload.h"

namespace trigram {

/// Owns another workload and forwards all calls to it. A derived class overrides some functions.
class WrappedWorkload : public Workload {
 public:
  void forward(Context ctx) override { workload_->forward(ctx); }
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override {
    workload_->forward_by_bucket(ctx, before);
  }
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    workload_->backward(ctx, on_ready);
  }
  void bucketize(const BucketSizes& sizes) override { workload_->bucketize(sizes); }
  std::span<Bucket> buckets() override { return workload_->buckets(); }
  Tensor weights() override { return workload_->weights(); }
  Tensor gradients() override { return workload_->gradients(); }
  Tensor buffers() override { return workload_->buffers(); }
  void skip(long count) override { workload_->skip(count); }
  double loss() override { return workload_->loss(); }
  bool has_values() const override { return workload_->has_values(); }
  bool learns() const override { return workload_->learns(); }
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) override {
    return workload_->evaluate(weights, max_samples);
  }
  std::size_t batch() const override { return workload_->batch(); }
  std::size_t priced_batch() const override { return workload_->priced_batch(); }

 protected:
  explicit WrappedWorkload(std::unique_ptr<Workload> workload) : workload_(std::move(workload)) {}
  Workload& inner() { return *workload_; }

 private:
  std::unique_ptr<Workload> workload_;
};

}  // namespace trigram
