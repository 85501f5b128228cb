#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "core/context.h"

namespace trigram {

/// A contiguous piece of the model whose gradient is exchanged as one message.
struct Bucket {
  int index = 0;
  Tensor weight;
  Tensor grad;
  /// Of the first of its tensors, as the workload keeps it; empty where tensors have no names.
  std::string_view name = {};
};

/// How many priced bytes a bucket holds at least; 0: one tensor. The first may have another size
/// than the others (as PyTorch's).
struct BucketSizes {
  BucketSizes(std::size_t all, std::optional<std::size_t> of_first = {})  // one size is sizes, too
      : each(all), first(of_first) {}
  std::size_t each;
  std::optional<std::size_t> first;
  std::size_t of(std::size_t bucket) const { return bucket == 0 ? first.value_or(each) : each; }
};

/// What a set of weights is worth on the held-out data.
struct Quality {
  double loss = 0;
  std::optional<double> accuracy;  // fraction correct; absent where there are no classes
};

/// As `most` of Workload::evaluate.
inline constexpr std::size_t kAllSamples = std::numeric_limits<std::size_t>::max();

/// What is trained: a layer-time profile (phantom), or a real model with real gradients. One
/// instance per rank; it owns its rank's weights and gradients, contiguous, on ctx.device.
class Workload {
 public:
  virtual ~Workload() = default;

  /// Cuts weights and gradients into buckets in the order in which backward completes them. Whole
  /// tensors are collected until a bucket has its size. Called once, before training.
  virtual void bucketize(const BucketSizes& sizes) = 0;
  virtual std::span<Bucket> buckets() = 0;
  /// All parameters and all gradients; the buckets are parts of them.
  virtual Tensor weights() = 0;
  virtual Tensor gradients() = 0;
  /// The model's buffers, such as the statistics of batch normalisation, which no gradient changes.
  /// On ctx.device; of length 0 where the model has none.
  virtual Tensor buffers() { return {}; }

  /// One pass over the rank's next mini-batch, at the present weights.
  virtual void forward(Context ctx) = 0;
  /// The same for weights that may still be on their way: calls `before(bucket)` for every bucket,
  /// the last first, before it uses the bucket's weights. They must be present when that returns.
  /// This default asks for all buckets before it begins.
  virtual void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before);
  /// Calls `on_ready(bucket)` for every bucket, in order, as soon as its gradient is complete.
  virtual void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) = 0;

  /// Mean loss of the last mini-batch; NaN for a phantom. Valid after backward.
  virtual double loss() = 0;
  /// False when the tensors are phantoms.
  virtual bool has_values() const = 0;
  /// False where values mean nothing: there is no loss, and weights are worth no evaluation.
  virtual bool learns() const { return has_values(); }
  /// Quality of `weights` (this workload's layout) on held-out data, on its first `most` samples if
  /// there are more; takes no simulated time.
  virtual Quality evaluate(std::span<const float> weights, std::size_t most) = 0;
  /// Samples in one mini-batch of one worker.
  virtual std::size_t batch() const = 0;
};

}  // namespace trigram
