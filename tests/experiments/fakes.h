#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "core/stream.h"
#include "core/workload.h"

namespace trigram {

/// A stream whose clock does not advance. Tests must not use any of its other functions.
class FakeStream : public Stream {
 public:
  std::string_view name() const override { return "main"; }
  double now() const override { return 0; }
  void sleep_for(double) override {}
  void charge(const Cost&) override {}
  void compute(double) override {}
  std::unique_ptr<Stream> fork(const std::string&) override { return nullptr; }
  OneWay fork_one_way(const std::string&) override { return {}; }
  std::shared_ptr<Work> submit(const Context&, Task) override { return nullptr; }
  void wait(Work&) override {}
  void synchronize() override {}
  std::unique_ptr<Mutex> make_mutex() override { return nullptr; }
};

/// A FakeStream with a real clock.
class RealStream : public FakeStream {
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
