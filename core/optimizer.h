#pragma once

#include <vector>

#include "core/check.h"
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

  /// True if the first `step` or `accumulate` of an iteration reads, and may change, the gradients
  /// of all buckets. A training loop then makes this call only when all gradients are final: after
  /// the backward pass and, for `step`, after the exchange of every bucket. It takes the gradient
  /// of every bucket once in each iteration, with no other iteration in between.
  virtual bool needs_all_gradients() const { return false; }

  /// The bucket's moment; of length 0 if the optimizer has none.
  virtual Tensor moment(const Bucket& /*bucket*/) const { return {}; }
  /// Updates the moment, a moving average, with the bucket's gradient. Nothing else changes.
  virtual void accumulate(Context, Bucket&) {
    TRIGRAM_CHECK(false, "this optimizer has no moment to accumulate into");
  }
  /// Moves the weights along the present moment. This counts as a step, which changes the bias
  /// corrections; the rest of the state is unchanged.
  void advance(Context ctx, Bucket& bucket) { advance(ctx, bucket, learning_rate(bucket)); }
  /// The same, with the given learning rate.
  virtual void advance(Context, Bucket&, float /*lr*/) {
    TRIGRAM_CHECK(false, "this optimizer has no moment to advance along");
  }
  /// After this call `advance` no longer changes the bias corrections of state that it does not
  /// update, such as Adam's variance; only `step` does.
  virtual void freeze_corrections() {}
};

/// One State for each bucket of a workload.
template <class State>
class PerBucket {
 public:
  explicit PerBucket(Workload& workload) : states_(workload.buckets().size()) {}
  State& operator[](const Bucket& bucket) { return states_.at(index(bucket)); }
  const State& operator[](const Bucket& bucket) const { return states_.at(index(bucket)); }

 private:
  static std::size_t index(const Bucket& bucket) { return static_cast<std::size_t>(bucket.index); }
  std::vector<State> states_;
};

}  // namespace trigram
