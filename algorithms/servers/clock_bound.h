#pragma once

#include <vector>

#include "core/context.h"

namespace trigram {

/// Keeps ranks that go at their own pace together: a rank's clock is the number of steps it has
/// done, and none goes on while its clock is more than a bound ahead of the slowest rank's (stale
/// synchronous parallel, Ho et al., NIPS 2013). On the control plane of the main stream: a rank
/// tells its clock to all others, P-1 messages per step.
class ClockBound {
 public:
  ClockBound(const Context& ctx, long bound);

  /// The own clock is one more.
  void tick(Context ctx);
  /// Returns when the own clock is at most the bound ahead of any rank's.
  void wait(Context ctx) { wait_for(ctx, clocks_[self_] - bound_); }
  /// After the last tick, of as many on all ranks: returns when all have told theirs.
  void finish(Context ctx) { wait_for(ctx, clocks_[self_]); }

 private:
  void wait_for(Context ctx, long clock);

  std::size_t self_;
  long bound_;
  std::vector<long> clocks_;  // of all ranks, as far as is known here
};

}  // namespace trigram
