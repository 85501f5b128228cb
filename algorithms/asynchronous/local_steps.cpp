#include "algorithms/asynchronous/local_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "algorithms/execution/control_tag.h"

namespace trigram {

// The number of ranks is part of the name, since a run may continue with other ranks.
LocalSteps::LocalSteps(Context ctx, long most, const TrainingState& state)
    : most_(most),
      step_s_(state.values<double>(fmt::format("step_s_of_{}", ctx.world_size),
                                   static_cast<std::size_t>(ctx.world_size))) {}

long LocalSteps::next(Context ctx, double seconds_per_step) {
  announce(ctx, seconds_per_step, /*last=*/false);
  step_s_[static_cast<std::size_t>(ctx.world_rank)] = seconds_per_step;
  while (const auto message = ctx.control->poll(kPaceTag)) note(*message);
  double fastest_s = seconds_per_step;
  for (const double step_s : step_s_)
    if (step_s > 0) fastest_s = std::min(fastest_s, step_s);
  if (seconds_per_step <= 0) return most_;
  // Equally fast workers differ by rounding errors of the clock.
  const double share = fastest_s / seconds_per_step * (1 + 1e-9);
  return std::clamp(static_cast<long>(std::floor(share * static_cast<double>(most_))), 1L, most_);
}

void LocalSteps::finish(Context ctx) {
  announce(ctx, 0, /*last=*/true);
  while (ended_ < ctx.world_size - 1) {
    const auto message = ctx.control->receive(kPaceTag);
    if (!message) return;  // the world is ending
    note(*message);
  }
}

void LocalSteps::announce(Context ctx, double seconds_per_step, bool last) const {
  for (int rank = 0; rank < ctx.world_size; ++rank)
    if (rank != ctx.world_rank)
      ctx.control->post(rank, kPaceTag, std::bit_cast<std::int64_t>(seconds_per_step), last);
}

void LocalSteps::note(const Message& message) {
  if (message.b != 0) ++ended_;
  else step_s_[static_cast<std::size_t>(message.source)] = std::bit_cast<double>(message.a);
}

}  // namespace trigram
