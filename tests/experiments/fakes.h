#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "core/workload.h"
#include "tests/support/lone_rank.h"

namespace trigram {

/// A stream with a real clock.
class RealStream : public test::RecordingStream {
 public:
  double now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

/// A workload that consists only of weights. The loss and the accuracy of a model are its first
/// weight.
class FakeWorkload : public Workload {
 public:
  explicit FakeWorkload(std::vector<float> weights) { set(std::move(weights)); }
  void set(std::vector<float> weights) { weights_ = std::move(weights); }
  void evaluation_takes(std::chrono::milliseconds duration) { duration_ = duration; }
  int evaluations() const { return evaluations_; }
  /// The number of evaluations on all samples.
  int evaluations_on_all() const { return on_all_; }

  void bucketize(const BucketSizes&) override {}
  std::span<Bucket> buckets() override { return {}; }
  Tensor weights() override {
    auto* bytes = reinterpret_cast<std::byte*>(weights_.data());
    return Tensor(std::shared_ptr<std::byte>(bytes, [](std::byte*) {}), weights_.size(), DType::f32,
                  weights_.size());
  }
  Tensor gradients() override { return weights(); }
  void forward(Context) override {}
  void backward(Context, const std::function<void(Bucket&)>&) override {}
  double loss() override { return 0; }
  bool has_values() const override { return true; }
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) override {
    ++evaluations_;
    on_all_ += max_samples == kAllSamples;
    std::this_thread::sleep_for(duration_);
    return {weights[0], weights[0]};
  }
  std::size_t batch() const override { return 1; }

 private:
  std::vector<float> weights_;
  std::chrono::milliseconds duration_{0};
  int evaluations_ = 0, on_all_ = 0;
};

}  // namespace trigram
