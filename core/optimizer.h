#pragma once

#include "core/workload.h"

namespace trigram {

/// Computes weight <- f(weight, grad, own state), bucket by bucket. Each rank has its own instance.
/// A bucket's k-th step uses the learning rate of step k.
///
/// An optimizer with a *moment* moves the weights along a moving average of gradients. It can also
/// step in two halves, for algorithms that exchange the moment instead of the gradient:
/// `accumulate`, then `advance`. `step` does both and updates all other state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual void step(Context ctx, Bucket& bucket) = 0;
  /// The learning rate of the bucket's next step.
  virtual float learning_rate(const Bucket& bucket) const = 0;

  /// The bucket's moment; of length 0 if the optimizer has none.
  virtual Tensor moment(const Bucket& /*bucket*/) const { return {}; }
  /// Updates the moment, a moving average, with the bucket's gradient. Nothing else changes.
  virtual void accumulate(Context ctx, Bucket& bucket);
  /// Moves the weights along the present moment. It counts a step, which changes the bias
  /// corrections; the rest of the state stays as it is.
  void advance(Context ctx, Bucket& bucket) { advance(ctx, bucket, learning_rate(bucket)); }
  /// The same, with the given learning rate.
  virtual void advance(Context ctx, Bucket& bucket, float lr);
  /// After this call, `advance` also leaves the bias corrections unchanged that belong to state it
  /// does not update; only `step` changes them.
  virtual void freeze_corrections() {}
};

}  // namespace trigram
