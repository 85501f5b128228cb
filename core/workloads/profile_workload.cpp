#include "core/workloads/profile_workload.h"

#include <algorithm>

#include "core/check.h"
#include "core/workloads/bucketing.h"

namespace trigram {
namespace {

class ProfileWorkload final : public FlatWorkload {
 public:
  ProfileWorkload(const Context& ctx, std::shared_ptr<const Profile> profile,
                  std::size_t real_numel, std::size_t batch, UntimedModel real)
      : FlatWorkload(*ctx.device, profile->backward_lengths(), real_numel,
                     profile->backward_names()),
        profile_(std::move(profile)),
        batch_(batch),
        forward_s_(profile_->forward_s()),
        real_(std::move(real)) {
    TRIGRAM_CHECK(weights().is_phantom() != has_values(), "values are {} but the device is {}",
                  has_values() ? "wanted" : "not wanted", ctx.device->name());
    const std::size_t buffer_numel = profile_->buffer_bytes / size_of(DType::f32);
    const std::size_t real_buffers = has_values() ? real_.model->buffer_numel() : buffer_numel;
    buffers_ = ctx.device->empty(real_buffers, DType::f32, buffer_numel);
    if (!has_values()) return;
    if (real_buffers > 0) real_.model->place_buffers(buffers_);
    std::vector<float> start(real_numel);
    real_.model->initialise(start);
    ctx.device->upload(weights(), start);
  }
  using FlatWorkload::group;

  Tensor buffers() override { return buffers_; }
  void forward(Context ctx) override {
    begin_mini_batch();
    run_model(ctx, [&](Device& device) { real_.model->forward(device, weights()); });
    compute(ctx, forward_s_);
  }
  /// A real model reads all weights at the end of the pass.
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override {
    begin_mini_batch();
    for (std::size_t i = buckets().size(); i-- > 0;) {
      before(buckets()[i]);
      compute(ctx, seconds(range(i), &ProfileTensor::forward_s));
    }
    run_model(ctx, [&](Device& device) { real_.model->forward(device, weights()); });
  }
  /// A real model's gradients are complete before the first bucket is reported.
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    TRIGRAM_CHECK(!buckets().empty(), "bucketize() comes before training");
    run_model(
        ctx, [&](Device& device) { real_.model->backward(device, weights(), gradients(), [] {}); });
    for (std::size_t i = 0; i < buckets().size(); ++i) {
      compute(ctx, seconds(range(i), &ProfileTensor::backward_s));
      on_ready(buckets()[i]);
    }
  }
  void skip(long count) override {
    if (has_values()) real_.model->skip(count);
    for (long i = 0; real_.loads && i < count; ++i) real_.loads();
  }
  double loss() override { return has_values() ? real_.model->loss() : FlatWorkload::loss(); }
  bool has_values() const override { return real_.model != nullptr; }
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) override {
    if (!has_values()) return FlatWorkload::evaluate(weights, max_samples);
    return real_.model->evaluate(weights, max_samples);
  }
  std::size_t batch() const override { return batch_; }
  std::size_t priced_batch() const override { return profile_->batch; }

 private:
  void begin_mini_batch() {
    ahead_s_ = 0;
    if (real_.loads) load_ = real_.loads();
  }
  /// Seconds of one pass through a bucket's tensors.
  double seconds(const BucketRange& range, double ProfileTensor::*pass) const {
    double sum = 0;
    const auto& rows = profile_->tensors;
    for (std::size_t i = range.first; i < range.last; ++i) sum += rows[rows.size() - 1 - i].*pass;
    return sum;
  }
  /// Runs a pass of the real model, if there is one, and adds the stream time it took to ahead_s_.
  /// In simulated time that is zero. On an accelerator the pass runs while the host sleeps for the
  /// layers.
  template <class Pass>
  void run_model(const Context& ctx, Pass pass) {
    if (!has_values()) return;
    Device& device = real_.device ? *real_.device : *ctx.device;
    if (ctx.stream->mark()) return pass(device);
    const double begin_s = ctx.stream->now();
    pass(device);
    ahead_s_ += ctx.stream->now() - begin_s;
  }
  /// Computes for a layer's time, multiplied by the mini-batch's load, minus the time that the real
  /// model has already taken for it.
  void compute(const Context& ctx, double seconds) {
    const double loaded_s = load_ * seconds, taken_s = std::min(ahead_s_, loaded_s);
    ahead_s_ -= taken_s;
    ctx.stream->compute(loaded_s - taken_s);
  }

  std::shared_ptr<const Profile> profile_;
  std::size_t batch_;
  double forward_s_;
  UntimedModel real_;
  double load_ = 1;     // of this mini-batch
  double ahead_s_ = 0;  // seconds that the model's computation took in this mini-batch and that no
                        // layer's time has covered yet
  Tensor buffers_;  // priced as the profile's; the real length is that of the real model, if there
                    // is one
};

}  // namespace

std::unique_ptr<Workload> profile_workload(const Context& ctx,
                                           std::shared_ptr<const Profile> profile,
                                           std::span<const std::size_t> groups) {
  const std::size_t numel = profile->numel(), batch = profile->batch;
  auto workload =
      std::make_unique<ProfileWorkload>(ctx, std::move(profile), numel, batch, UntimedModel{});
  workload->group(groups);
  return workload;
}

std::unique_ptr<Workload> priced_workload(const Context& ctx,
                                          std::shared_ptr<const Profile> profile,
                                          std::size_t real_numel, std::size_t batch,
                                          UntimedModel real) {
  return std::make_unique<ProfileWorkload>(ctx, std::move(profile), real_numel, batch,
                                           std::move(real));
}

}  // namespace trigram
