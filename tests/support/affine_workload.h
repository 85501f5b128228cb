#pragma once

#include <limits>
#include <vector>

#include "core/workload.h"

namespace trigram::test {

/// A workload whose gradient is a known function of the weights, slope * w + rank + 1, so that a
/// test can compute the path of any training method by hand. Weights are 1 at first, in two
/// buckets.
class AffineWorkload final : public Workload {
 public:
  AffineWorkload(const Context& ctx, std::size_t numel, float slope)
      : slope_(slope),
        offset_(static_cast<float>(ctx.world_rank + 1)),
        weights_(ctx.device->empty(numel)),
        gradients_(ctx.device->empty(numel)) {
    ctx.device->fill(weights_, 1);
  }

  void bucketize(const BucketSizes&) override {
    for (std::size_t i = 0; i < 2; ++i)
      buckets_.push_back({static_cast<int>(i), weights_.part(i, 2), gradients_.part(i, 2)});
  }
  std::span<Bucket> buckets() override { return buckets_; }
  Tensor weights() override { return weights_; }
  Tensor gradients() override { return gradients_; }

  void forward(Context ctx) override { ctx.stream->compute(forward_s); }
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    for (Bucket& bucket : buckets_) {
      ctx.stream->compute(backward_s);
      for (std::size_t i = 0; i < bucket.grad.numel(); ++i)
        bucket.grad.floats()[i] =
            slope_ * bucket.weight.floats()[i] + offset_ * offset_factor(bucket, i);
      on_ready(bucket);
    }
  }
  double loss() override { return 0; }
  bool has_values() const override { return true; }
  Quality evaluate(std::span<const float>, std::size_t) override { return {}; }
  std::size_t batch() const override { return 1; }
  std::size_t priced_batch() const override { return priced_samples; }

  std::size_t priced_samples = 1;  // what priced_batch() returns
  double forward_s = 1e-4, backward_s = 1e-4;
  /// Changes the offset of weight i to (rank + 1) (1 + tilt i), so that weights differ.
  float tilt = 0;
  /// Negates the offsets of odd weights.
  bool alternating = false;

 private:
  float offset_factor(const Bucket& bucket, std::size_t i) const {
    const auto bucket_begin = bucket.grad.floats().data() - gradients_.floats().data();
    const std::size_t index = static_cast<std::size_t>(bucket_begin) + i;
    const float factor = 1 + tilt * static_cast<float>(index);
    return alternating && index % 2 != 0 ? -factor : factor;
  }

  float slope_, offset_;
  Tensor weights_, gradients_;
  std::vector<Bucket> buckets_;
};

}  // namespace trigram::test
