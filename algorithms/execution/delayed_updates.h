#pragma once

#include <memory>
#include <vector>

#include "algorithms/execution/exchange.h"
#include "core/algorithm.h"

namespace trigram {

/// Optimizer steps along averages of gradients that are `delay` steps old, so that an exchange has
/// `delay` whole steps of time (Li et al., Pipe-SGD, arXiv 1811.03619). In each step, the gradients
/// are computed, `begin` starts their exchange, and `apply` steps along the result of the exchange
/// that began `delay` steps before. With a delay of 0 this is synchronous SGD.
///
/// Memory: with a delay, `delay` + 1 copies of the gradients.
class DelayedUpdates {
 public:
  /// Forks a stream `comm` for the exchanges, which are hierarchical if the run is (`across`).
  DelayedUpdates(Context ctx, Run& run, long delay, Exchange exchange);

  /// Starts the exchange of the bucket's gradient, or of its copy if there is a delay. Must be
  /// called for every bucket, in order, in every step.
  void begin(Context ctx, Run& run, const Bucket& bucket);
  /// `begin` for all buckets.
  void begin(Context ctx, Run& run);
  /// Waits for the exchanges that began `delay` steps ago and updates each bucket as soon as its
  /// exchange has ended, or all buckets at the end if the optimizer needs all gradients at once:
  /// these are then in the workload's gradients, in place of the present ones. Does nothing in the
  /// first `delay` steps.
  void apply(Context ctx, Run& run);
  /// Waits for the exchanges that are still in flight. Only another part of the run uses their
  /// results.
  void finish(Context ctx);

 private:
  /// The gradients of one step and their exchanges, by bucket.
  struct Round {
    std::vector<Tensor> gradients;
    WorkList pending;
  };
  Round& round(long step) { return rounds_[static_cast<std::size_t>(step) % rounds_.size()]; }

  std::unique_ptr<Stream> comm_;
  Exchange exchange_;
  long delay_;
  std::vector<Round> rounds_;
};

}  // namespace trigram
