#include "core/workloads/replay_workload.h"

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

/// Small numbers of either sign, like activations, so that sums over many rows stay small too.
Tensor small_numbers(Device& device, std::size_t numel, Philox random) {
  Tensor x = device.empty(numel), scaled = device.empty(numel);
  device.fill_normal(x, random);
  device.axpby(1e-3f, x, 0, scaled);
  return scaled;
}

}  // namespace

ReplayWorkload::ReplayWorkload(const Context& ctx, std::shared_ptr<const Profile> profile,
                               std::size_t buffer_bytes, bool values, std::uint64_t seed)
    : FlatWorkload(*ctx.device, profile->backward_lengths(), profile->numel(),
                   profile->backward_names()),
      profile_(std::move(profile)),
      values_(values) {
  std::size_t begin = profile_->numel(), widest = 0;
  for (const ProfileTensor& row : profile_->tensors) {
    layers_.emplace_back(row.numel, row.forward_flops.value(), row.backward_flops.value());
    begins_.push_back(begin -= row.numel);
    widest = std::max({widest, layers_.back().inputs(), layers_.back().outputs()});
  }
  const std::size_t length = std::max(buffer_bytes / size_of(DType::f32), widest);
  const auto random = [&](std::uint64_t which) {
    return Philox(seed, static_cast<std::uint64_t>(ctx.world_rank), which, Purpose::data_set);
  };
  Device& device = *ctx.device;
  buffers_ = {small_numbers(device, length, random(0)), small_numbers(device, length, random(1)),
              device.empty(length)};
  device.fill(weights(), 0.01f);
  kept_ = device.empty(profile_->buffer_bytes / size_of(DType::f32));
  device.fill(kept_, 0);
}

void ReplayWorkload::forward_tensor(const Context& ctx, std::size_t i) {
  layers_[i].forward(*ctx.device, buffers_,
                     weights().slice(begins_[i], profile_->tensors[i].numel));
}

void ReplayWorkload::backward_tensor(const Context& ctx, std::size_t i) {
  const std::size_t numel = profile_->tensors[i].numel;
  layers_[i].backward(*ctx.device, buffers_, weights().slice(begins_[i], numel),
                      gradients().slice(begins_[i], numel));
}

void ReplayWorkload::forward(Context ctx) {
  for (std::size_t i = 0; i < layers_.size(); ++i) forward_tensor(ctx, i);
}

void ReplayWorkload::forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) {
  for (std::size_t b = buckets().size(); b-- > 0;) {
    before(buckets()[b]);
    for (std::size_t i = range(b).last; i-- > range(b).first;)
      forward_tensor(ctx, layers_.size() - 1 - i);
  }
}

void ReplayWorkload::backward(Context ctx, const std::function<void(Bucket&)>& on_ready) {
  TRIGRAM_CHECK(!buckets().empty(), "bucketize() comes before training");
  for (std::size_t b = 0; b < buckets().size(); ++b) {
    for (std::size_t i = range(b).first; i < range(b).last; ++i)
      backward_tensor(ctx, layers_.size() - 1 - i);
    on_ready(buckets()[b]);
  }
}

double ReplayWorkload::loss() { return std::numeric_limits<double>::quiet_NaN(); }

Quality ReplayWorkload::evaluate(std::span<const float> /*weights*/, std::size_t /*most*/) {
  return {std::numeric_limits<double>::quiet_NaN(), std::nullopt};
}

}  // namespace trigram
