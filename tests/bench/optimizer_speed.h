#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "core/optimizers/registry.h"
#include "core/random/philox.h"
#include "core/workloads/bucketing.h"
#include "tests/bench/resnet50.h"
#include "tests/support/lone_rank.h"

namespace trigram::test {

/// The 161 tensors of ResNet-50 in buckets of 25 MiB, with random weights and gradients.
class ResNet50Tensors final : public FlatWorkload {
 public:
  explicit ResNet50Tensors(Device& device) : FlatWorkload(device, resnet50_tensors(), numel()) {
    device.fill_normal(weights(), Philox(1, 0, 0, Purpose::weights));
    device.fill_normal(gradients(), Philox(1, 0, 0, Purpose::gradient_noise));
    bucketize(std::size_t{25} << 20);
  }
  void forward(Context) override {}
  void backward(Context, const std::function<void(Bucket&)>&) override {}
  bool has_values() const override { return true; }
  std::size_t batch() const override { return 1; }

 private:
  static std::size_t numel() {
    const auto lengths = resnet50_tensors();
    return std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  }
};

/// An optimizer and the number of times that a step must read or write a vector of the length of
/// the weights. LAMB and LARS read twice what they need again after a norm is known, because the
/// tensors together are larger than the caches.
struct MeasuredOptimizer {
  std::string name;
  Json options;
  double passes;
};
inline std::vector<MeasuredOptimizer> measured_optimizers() {
  return {{"sgd", {{"name", "sgd"}}, 3},
          {"sgd with momentum", {{"name", "sgd"}, {"momentum", 0.9}}, 5},
          {"adam", {{"name", "adam"}}, 7},
          {"adamw", {{"name", "adamw"}, {"weight_decay", 0.01}}, 7},
          {"rmsprop", {{"name", "rmsprop"}}, 5},
          {"adagrad", {{"name", "adagrad"}}, 5},
          {"lion", {{"name", "lion"}}, 5},
          {"lamb", {{"name", "lamb"}}, 10},
          {"lars", {{"name", "lars"}}, 7}};
}

/// A step of all buckets, beside two bounds of memory: memcpy of the weights, which reads and
/// writes each byte once, and y = x + y, which reads two bytes for each that it writes, as
/// optimizers do. A processor moves more bytes in a second if fewer of them are written.
class OptimizerSpeed {
 public:
  explicit OptimizerSpeed(const MeasuredOptimizer& measured) : passes_(measured.passes) {
    const Json resolved =
        resolve_component(optimizers(), "optimizer", measured.options, "/optimizer");
    optimizer_ = find_component(optimizers(), "optimizer", measured.options, "")
                     .make(component_options(resolved), rank_.ctx, model_, 1'000'000);
    device_.fill(copied_, 0);
    step();
  }
  void step() {
    for (Bucket& bucket : model_.buckets()) optimizer_->step(rank_.ctx, bucket);
  }
  void copy() { std::memcpy(copied_.data(), model_.weights().data(), copied_.nbytes()); }
  void add() { device_.axpby(1, model_.weights(), 1, copied_); }
  /// Runs each once, and keeps the shortest times. Returns the seconds of the step.
  double measure() {
    copy_s_ = std::min(copy_s_, seconds([this] { copy(); }));
    add_s_ = std::min(add_s_, seconds([this] { add(); }));
    const double taken = seconds([this] { step(); });
    step_s_ = std::min(step_s_, taken);
    return taken;
  }
  /// The time that the step's bytes take at the speed of memcpy, divided by the time of the step.
  double ratio_to_memcpy() const { return passes_ / 2 * copy_s_ / step_s_; }
  /// The same at the speed of y = x + y.
  double ratio_to_addition() const { return passes_ / 3 * add_s_ / step_s_; }
  double nbytes() const { return passes_ * static_cast<double>(copied_.nbytes()); }

 private:
  template <class Operation>
  static double seconds(const Operation& operation) {
    const auto begin = std::chrono::steady_clock::now();
    operation();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  HostDevice device_;
  LoneRank rank_{device_};
  ResNet50Tensors model_{device_};
  Tensor copied_ = device_.empty_like(model_.weights());
  std::unique_ptr<Optimizer> optimizer_;
  double passes_;
  double copy_s_ = std::numeric_limits<double>::infinity(), add_s_ = copy_s_, step_s_ = copy_s_;
};

}  // namespace trigram::test
