#pragma once

#include "core/workload.h"

namespace trigram {

/// weight <- f(weight, grad, own state), bucket by bucket. One instance per rank. A bucket's k-th
/// step uses the learning rate of step k.
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
  /// Moves the weight along the present moment. The rest of the state stays as it is, except for
  /// the step count and hence all bias corrections.
  void advance(Context ctx, Bucket& bucket) { advance(ctx, bucket, learning_rate(bucket)); }
  /// The same with the given learning rate.
  virtual void advance(Context ctx, Bucket& bucket, float lr);
  /// After this call `advance` also leaves unchanged the bias corrections of the state that it does
  /// not update; these corrections grow with `step` only.
  virtual void freeze_corrections() {}
};

}  // namespace trigram
