#include "tests/support/host_gradients.h"

#include "core/device/host_device.h"
#include "core/workloads/bucketing.h"

namespace trigram::test {
namespace {

class HostGradients final : public Workload {
 public:
  HostGradients(const WorkloadFactory& factory, const Context& ctx, std::uint64_t seed)
      : inner_(factory.make(on_host(ctx), seed)),
        weights_(ctx.device->empty_like(inner_->weights())),
        gradients_(ctx.device->empty_like(inner_->gradients())) {
    ctx.device->upload(weights_, host_.download(inner_->weights()));
    ctx.device->upload(gradients_, host_.download(inner_->gradients()));
  }

  void bucketize(const BucketSizes& sizes) override {
    inner_->bucketize(sizes);
    std::size_t begin = 0;
    for (const Bucket& b : inner_->buckets()) {
      const std::size_t count = b.grad.numel(), priced = b.grad.priced_numel();
      buckets_.push_back({b.index, weights_.slice(begin, count, priced),
                          gradients_.slice(begin, count, priced), b.name, b.tensors});
      begin += count;
    }
  }
  std::span<Bucket> buckets() override { return buckets_; }
  Tensor weights() override { return weights_; }
  Tensor gradients() override { return gradients_; }

  void forward(Context ctx) override {
    host_.upload(inner_->weights(), ctx.device->download(weights_));
    inner_->forward(on_host(ctx));
  }
  void skip(long count) override { inner_->skip(count); }
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    inner_->backward(on_host(ctx), [&](Bucket& b) {
      Bucket& there = buckets_[static_cast<std::size_t>(b.index)];
      ctx.device->upload(there.grad, host_.download(b.grad));
      on_ready(there);
    });
  }

  double loss() override { return inner_->loss(); }
  bool has_values() const override { return inner_->has_values(); }
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) override {
    return inner_->evaluate(weights, max_samples);
  }
  std::size_t batch() const override { return inner_->batch(); }

 private:
  Context on_host(Context ctx) {
    ctx.device = &host_;
    return ctx;
  }

  HostDevice host_;  // outlives the workload that uses it
  std::unique_ptr<Workload> inner_;
  Tensor weights_, gradients_;
  std::vector<Bucket> buckets_;
};

}  // namespace

std::unique_ptr<Workload> with_host_gradients(const WorkloadFactory& factory, const Context& ctx,
                                              std::uint64_t seed) {
  return std::make_unique<HostGradients>(factory, ctx, seed);
}

}  // namespace trigram::test
