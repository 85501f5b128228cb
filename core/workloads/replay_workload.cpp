#include "core/workloads/replay_workload.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

/// The smaller side of the most nearly square matrix that has exactly `numel` elements.
std::size_t smaller_side(std::size_t numel) {
  auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(numel)));
  while (numel % side != 0) --side;
  return side;
}

}  // namespace

ReplayLayer::ReplayLayer(std::size_t numel, std::int64_t forward_flops, std::int64_t backward_flops)
    : forward_(forward_flops), backward_(backward_flops) {
  constexpr std::size_t kNarrowRatio = 64;  // of the sides of a matrix that counts as narrow
  inputs_ = smaller_side(numel);
  outputs_ = numel / inputs_;
  if (outputs_ > kNarrowRatio * inputs_)
    inputs_ = outputs_ = static_cast<std::size_t>(std::sqrt(static_cast<double>(numel)));
}

std::int64_t ReplayLayer::rows(std::int64_t flops) const {
  return flops / (2 * static_cast<std::int64_t>(inputs_ * outputs_));
}

template <class Product>
void ReplayLayer::for_each_piece(const ReplayBuffers& buffers, std::int64_t flops,
                                 Product product) const {
  const std::size_t wider = std::max(inputs_, outputs_);
  TRIGRAM_CHECK(buffers.x.numel() >= wider, "buffers of {} elements for a layer as wide as {}",
                buffers.x.numel(), wider);
  const auto largest = static_cast<std::int64_t>(buffers.x.numel() / wider);
  for (std::int64_t left = rows(flops); left > 0; left -= largest)
    product(static_cast<std::size_t>(std::min(left, largest)));
}

void ReplayLayer::issue_rest(Device& device, const ReplayBuffers& buffers, const Tensor& w,
                             std::int64_t flops) const {
  const auto pairs = static_cast<std::size_t>(flops / 2) % (inputs_ * outputs_);
  const std::size_t columns = pairs / inputs_, last = pairs % inputs_;
  NnOps& nn = device.nn();
  if (columns > 0)
    nn.gemm({.m = 1, .n = columns, .k = inputs_}, buffers.x.slice(0, inputs_),
            w.slice(0, inputs_ * columns), 0, buffers.y.slice(0, columns));
  if (last > 0)
    nn.gemm({.m = 1, .n = 1, .k = last}, buffers.x.slice(0, last), w.slice(0, last), 0,
            buffers.y.slice(0, 1));
}

void ReplayLayer::forward(Device& device, const ReplayBuffers& buffers, const Tensor& w) const {
  for_each_piece(buffers, forward_, [&](std::size_t rows) {
    device.nn().gemm({.m = rows, .n = outputs_, .k = inputs_}, buffers.x.slice(0, rows * inputs_),
                     w.slice(0, inputs_ * outputs_), 0, buffers.y.slice(0, rows * outputs_));
  });
  issue_rest(device, buffers, w, forward_);
}

void ReplayLayer::backward(Device& device, const ReplayBuffers& buffers, const Tensor& w,
                           const Tensor& gradient) const {
  const std::int64_t weight_flops = forward_ > 0 ? std::min(forward_, backward_) : backward_;
  const std::int64_t input_flops = backward_ - weight_flops;
  const std::size_t square = inputs_ * outputs_;
  const std::size_t written = rows(weight_flops) > 0 ? square : 0;
  if (written < gradient.numel())
    device.fill(gradient.slice(written, gradient.numel() - written), 0);
  float beta = 0;
  for_each_piece(buffers, weight_flops, [&](std::size_t rows) {
    device.nn().gemm({.m = inputs_, .n = outputs_, .k = rows, .transpose_a = true},
                     buffers.x.slice(0, rows * inputs_), buffers.dy.slice(0, rows * outputs_), beta,
                     gradient.slice(0, square));
    beta = 1;
  });
  for_each_piece(buffers, input_flops, [&](std::size_t rows) {
    device.nn().gemm({.m = rows, .n = inputs_, .k = outputs_, .transpose_b = true},
                     buffers.dy.slice(0, rows * outputs_), w.slice(0, square), 0,
                     buffers.y.slice(0, rows * inputs_));
  });
  issue_rest(device, buffers, w, weight_flops);
  issue_rest(device, buffers, w, input_flops);
}

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
  const auto random = [&](std::uint64_t buffer) {
    return Philox(seed, static_cast<std::uint64_t>(ctx.world_rank), buffer, Purpose::data_set);
  };
  Device& device = *ctx.device;
  buffers_ = {small_numbers(device, length, random(0)), small_numbers(device, length, random(1)),
              device.empty(length)};
  device.fill(weights(), 0.01f);
  state_ = device.empty(profile_->buffer_bytes / size_of(DType::f32));
  device.fill(state_, 0);
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

}  // namespace trigram
