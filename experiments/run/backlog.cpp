#include "experiments/run/backlog.h"

namespace trigram {
namespace {

double bytes_sent(const Counters& counters) {
  return static_cast<double>(counters.bytes_intra) + static_cast<double>(counters.bytes_inter);
}

}  // namespace

Json backlog(const Summary& summary, std::span<const RankResult> ranks, long steps_made,
             long interval_steps) {
  // Exchanges of the last interval are always under way, and messages end at slightly different
  // times.
  constexpr double kIntervals = 1.5, kLeastShare = 0.01;
  const StepSums &all = summary.all(), rated = summary.rated();
  double bytes = 0;
  for (const RankResult& rank : ranks) bytes += bytes_sent(rank.total);
  if (rated.steps == 0 || bytes == 0) return nullptr;
  const double per_step = bytes / static_cast<double>(steps_made),
               behind = per_step * static_cast<double>(all.steps) - bytes_sent(all.sent);
  const double sent_per_step = bytes_sent(rated.sent) / static_cast<double>(rated.steps);
  if (behind <= kIntervals * static_cast<double>(interval_steps) * per_step ||
      sent_per_step >= (1 - kLeastShare) * per_step)
    return nullptr;
  const double step_s = rated.time_s / static_cast<double>(rated.steps);
  return {{"behind_bytes", behind}, {"long_run_step_s", finite(step_s * per_step / sent_per_step)}};
}

}  // namespace trigram
