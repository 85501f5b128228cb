#include "experiments/run/lock_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/run/drawn_steps.h"
#include "experiments/run/shortfall.h"

namespace trigram {

bool leaves_lock_step(const Experiment& e) {
  const Cluster& c = e.cluster;
  const Trigram trigram = e.algorithm_entry().traits(e.algorithm).trigram;
  const bool all_wait =
      e.synchronous() && trigram.centralisation == Trigram::Centralisation::centralised;
  const bool none_wait = e.schedule().by_time;  // averages in the background
  // Workers that all restart together stay equal.
  const bool restarts =
      c.failures.recovery == Recovery::restart &&
      std::ranges::all_of(c.failures.events, [](const Failure& f) {
        return f.has({Failure::Kind::crash, Failure::Kind::leave, Failure::Kind::join});
      });
  const bool equal = c.bandwidth_jitter == 0 && c.slow_workers.empty() && c.worker_variation == 0 &&
                     c.transport.variation == 0 && c.skew.largest_s == 0 &&
                     drawn_at_random(c).empty() && (c.failures.none() || restarts);
  return !all_wait && !none_wait && !equal;
}

std::string lock_step_warning(const Experiment& e, const Json& summary) {
  const long steps = summary.at("steps"), rated = steps - rated_cycle(e).first_step;
  if (!e.world().simulated || e.cluster.layout().ranks() == 1 || rated <= 0 ||
      rated >= kStepsOutOfLockStep || !summary.at("steady").is_null() || !leaves_lock_step(e))
    return "";
  return fmt::format(
      "workers or NICs differ, and workers wait only for their peers: they may leave lock step "
      "after thousands of steps, and a step may then take up to twice as long as in these {} "
      "steps; --set /steps={} makes the run long enough",
      steps, kStepsOutOfLockStep);
}

}  // namespace trigram
