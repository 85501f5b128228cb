#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/execution/control_tag.h"
#include "core/context.h"

namespace trigram {

/// Limits how many steps a rank can be ahead of another, if ranks run at their own pace. A rank's
/// clock is the number of steps that it has finished. A rank waits while its clock is more than
/// `bound` ahead of the clock of the slowest rank (stale synchronous parallel, Ho et al., NIPS
/// 2013). Uses the control plane of the main stream: a rank sends its clock to all other ranks, P-1
/// messages per step.
class ClockBound {
 public:
  ClockBound(const Context& ctx, long bound);

  /// Increments this rank's clock and announces it.
  void tick(Context ctx);
  /// Blocks until this rank's clock is at most `bound` ahead of every rank's clock.
  void wait(Context ctx) { wait_for(ctx, clocks_[self_] - bound_); }
  /// Call after the last tick. All ranks must tick the same number of times. Returns when the last
  /// ticks of all ranks are known.
  void finish(Context ctx) { wait_for(ctx, clocks_[self_]); }

 private:
  void wait_for(Context ctx, long clock);

  std::size_t self_;
  long bound_;
  std::vector<long> clocks_;  // clocks of all ranks, as far as this rank knows them
};

inline ClockBound::ClockBound(const Context& ctx, long bound)
    : self_(static_cast<std::size_t>(ctx.world_rank)),
      bound_(bound),
      clocks_(static_cast<std::size_t>(ctx.world_size), 0) {}

inline void ClockBound::tick(Context ctx) {
  ++clocks_[self_];
  for (int rank = 0; rank < ctx.world_size; ++rank)
    if (rank != ctx.world_rank) ctx.control->post(rank, kClockTag, clocks_[self_]);
}

inline void ClockBound::wait_for(Context ctx, long clock) {
  while (*std::min_element(clocks_.begin(), clocks_.end()) < clock) {
    const auto message = ctx.control->receive(kClockTag);
    if (!message) return;  // the world is ending
    clocks_[static_cast<std::size_t>(message->source)] = message->a;
  }
}

}  // namespace trigram
