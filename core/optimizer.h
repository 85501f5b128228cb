#pragma once

#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "core/training_state.h"
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
  /// the backward pass and, for `step`, after the exchange of every bucket. The loop passes every
  /// bucket exactly once before the next iteration begins.
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

  /// Switches to the workload's new buckets. Call this between two steps, after
  /// Workload::bucketize. The state of every weight keeps its value. All buckets must have made the
  /// same number of steps.
  virtual void rebucket(Context ctx, Workload& workload) = 0;

  /// Passes all state that steps change to `visitor`. Call this between two steps. The learning
  /// rate is not part of the state, because it follows from the number of steps.
  virtual void visit_state(StateVisitor& visitor) = 0;
};

/// Joins the vectors in `pieces`, and cuts the result into vectors as long as the weights of the
/// workload's buckets. Together the pieces are as long as the weights.
std::vector<Tensor> cut_like_buckets(Device& device, std::span<const Tensor> pieces,
                                     Workload& workload);

/// One State for each bucket of a workload. `State::steps` counts the bucket's steps.
template <class State>
class PerBucket {
 public:
  explicit PerBucket(Workload& workload) : states_(workload.buckets().size()) {}
  State& operator[](const Bucket& bucket) { return states_.at(index(bucket)); }
  const State& operator[](const Bucket& bucket) const { return states_.at(index(bucket)); }
  std::span<const State> all() const { return states_; }

  /// As Optimizer::rebucket. `vectors(state)` returns pointers to the vectors of a state, which
  /// are as long as the bucket's weights; everything else in a state is the same for all buckets.
  template <class Vectors>
  void rebucket(Device& device, Workload& workload, Vectors vectors) {
    for (const State& state : states_)
      TRIGRAM_CHECK(state.steps == states_.front().steps,
                    "buckets change after {} steps of one bucket and {} steps of another",
                    states_.front().steps, state.steps);
    std::vector<State> next(workload.buckets().size(), states_.front());
    for (std::size_t i = 0; i < vectors(states_.front()).size(); ++i) {
      std::vector<Tensor> pieces;
      for (State& state : states_) pieces.push_back(*vectors(state)[i]);
      const std::vector<Tensor> cut = cut_like_buckets(device, pieces, workload);
      for (std::size_t bucket = 0; bucket < next.size(); ++bucket)
        *vectors(next[bucket])[i] = cut[bucket];
    }
    states_ = std::move(next);
  }

  /// As Optimizer::visit_state: the numbers of steps and the vectors, as for `rebucket`.
  template <class Vectors>
  void visit(StateVisitor& visitor, Vectors vectors) {
    for (std::size_t bucket = 0; bucket < states_.size(); ++bucket) {
      visitor.value(fmt::format("{} steps", bucket), states_[bucket].steps);
      int number = 0;
      for (Tensor* vector : vectors(states_[bucket]))
        visitor.tensor(fmt::format("{} {}", bucket, number++), *vector);
    }
  }
  /// All states, for optimizers with more state than `visit` passes on.
  std::span<State> all() { return states_; }

 private:
  static std::size_t index(const Bucket& bucket) { return static_cast<std::size_t>(bucket.index); }
  std::vector<State> states_;
};

}  // namespace trigram
