#include "algorithms/servers/clock_bound.h"

#include <algorithm>

#include "algorithms/execution/control_tag.h"

namespace trigram {

ClockBound::ClockBound(const Context& ctx, long bound)
    : self_(static_cast<std::size_t>(ctx.world_rank)),
      bound_(bound),
      clocks_(static_cast<std::size_t>(ctx.world_size), 0) {}

void ClockBound::tick(Context ctx) {
  ++clocks_[self_];
  for (int rank = 0; rank < ctx.world_size; ++rank)
    if (rank != ctx.world_rank) ctx.control->post(rank, kClockTag, clocks_[self_]);
}

void ClockBound::wait_for(Context ctx, long clock) {
  while (*std::min_element(clocks_.begin(), clocks_.end()) < clock) {
    const auto told = ctx.control->receive(kClockTag);
    if (!told) return;  // the world is ending
    clocks_[static_cast<std::size_t>(told->source)] = told->a;
  }
}

}  // namespace trigram
