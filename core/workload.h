#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/context.h"

namespace trigram {

/// A contiguous piece of the model whose gradient is exchanged as one message.
struct Bucket {
  int index = 0;
  Tensor weight;
  Tensor grad;
  /// The name of its first tensor, stored by the workload; empty if tensors have no names.
  std::string_view name = {};
  /// The model's tensors in the bucket, which cover it in order. Empty if buckets cut tensors.
  std::vector<TensorPlace> tensors = {};
};

/// The least number of priced bytes in each bucket; 0 means one tensor per bucket. The first bucket
/// may have another size (as in PyTorch).
class BucketSizes {
 public:
  // Implicit, so that one number is a size for all buckets.
  BucketSizes(std::size_t all, std::optional<std::size_t> first = {})
      : all_(all), first_(first.value_or(all)) {}
  std::size_t min_bytes(std::size_t bucket) const { return bucket == 0 ? first_ : all_; }
  bool operator==(const BucketSizes&) const = default;

 private:
  std::size_t all_, first_;
};

/// The quality of a set of weights on the held-out data.
struct Quality {
  double loss = 0;                 // in the unit of Workload::loss
  std::optional<double> accuracy;  // fraction correct; absent if there are no classes
};

/// Pass as `max_samples` to Workload::evaluate to use the whole held-out set.
inline constexpr std::size_t kAllSamples = std::numeric_limits<std::size_t>::max();

/// The training task: a real model with real gradients, or only the layer times and tensor sizes of
/// a profile, whose tensors are phantoms (core/tensor.h). One instance per rank; it owns the rank's
/// weights and gradients, which are contiguous, on ctx.device.
class Workload {
 public:
  virtual ~Workload() = default;

  /// Groups whole tensors into buckets of at least the given sizes, in the order in which backward
  /// completes their gradients. Called before training, and again between two steps if the buckets
  /// are to change; weights and gradients keep their values.
  virtual void bucketize(const BucketSizes& sizes) = 0;
  virtual std::span<Bucket> buckets() = 0;
  /// All parameters and all gradients; the buckets are views of parts of them.
  virtual Tensor weights() = 0;
  virtual Tensor gradients() = 0;
  /// The model's buffers, which no gradient changes, such as the statistics of batch normalisation.
  /// On ctx.device; of length 0 if the model has none.
  virtual Tensor buffers() { return {}; }

  /// One forward pass over the rank's next mini-batch with the present weights.
  virtual void forward(Context ctx) = 0;
  /// A forward pass while weights may still be arriving. Calls `before(bucket)` for every bucket,
  /// from the last to the first, before it uses the bucket's weights, which must be present when
  /// `before` returns. The default calls `before` for all buckets first.
  virtual void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) {
    for (std::size_t i = buckets().size(); i-- > 0;) before(buckets()[i]);
    forward(ctx);
  }
  /// One backward pass; calls `on_ready(bucket)` for every bucket, in order, as soon as its
  /// gradient is complete.
  virtual void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) = 0;

  /// Skips the next `count` mini-batches, for a run that continues another run: everything but the
  /// weights, the gradients and the loss is then as after `count` forward passes. The default suits
  /// workloads whose mini-batches are all alike.
  virtual void skip(long /*count*/) {}

  /// Mean loss of the last mini-batch, in nats, or in bits per byte for language models; NaN if
  /// tensors are phantoms. Valid after backward.
  virtual double loss() { return std::numeric_limits<double>::quiet_NaN(); }
  /// False if the tensors are phantoms.
  virtual bool has_values() const = 0;
  /// False if the values have no meaning: then there is no loss, and the weights need no
  /// evaluation.
  virtual bool learns() const { return has_values(); }
  /// Quality of `weights` (in this workload's layout) on the first `max_samples` held-out
  /// samples, or on all if there are fewer. Takes no simulated time.
  virtual Quality evaluate(std::span<const float> /*weights*/, std::size_t /*max_samples*/) {
    return {std::numeric_limits<double>::quiet_NaN(), std::nullopt};
  }
  /// Samples in one mini-batch of one worker.
  virtual std::size_t batch() const = 0;
  /// Samples in one mini-batch of the model whose times and sizes the workload has, which differs
  /// from the trained model if the workload is priced as another one.
  virtual std::size_t priced_batch() const { return batch(); }
};

}  // namespace trigram
