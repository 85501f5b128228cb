#pragma once

#include "core/workload.h"

namespace trigram {

/// weight <- f(weight, grad, own state), bucket by bucket. One instance per rank. A bucket's k-th
/// step uses the learning rate of step k.
///
/// An optimizer with a *moment*, a moving average of gradients that it moves the weights along, can
/// also step in two halves, for methods that exchange the moment instead of the gradient:
/// `accumulate`, then `advance`. `step` does both, and whatever else there is to update.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual void step(Context ctx, Bucket& bucket) = 0;
  /// The learning rate of the bucket's next step.
  virtual float learning_rate(const Bucket& bucket) const = 0;

  /// The bucket's moment; of length 0 when the optimizer has none.
  virtual Tensor moment(const Bucket& /*bucket*/) const { return {}; }
  /// moment <- its moving average with the bucket's gradient. Nothing else changes.
  virtual void accumulate(Context ctx, Bucket& bucket);
  /// weight <- a step along the moment as it is; of the other state, only the step is counted, and
  /// with it grow all bias corrections.
  void advance(Context ctx, Bucket& bucket) { advance(ctx, bucket, learning_rate(bucket)); }
  /// The same with another learning rate.
  virtual void advance(Context ctx, Bucket& bucket, float lr);
  /// From here on `advance` freezes the bias corrections of what it leaves as it is, too: they grow
  /// with `step` only.
  virtual void freeze_corrections() {}
};

}  // namespace trigram
