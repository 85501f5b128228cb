#pragma once

#include <span>

#include "experiments/run/summary.h"

namespace trigram {

/// Says whether exchanges fell behind computation in the steps that the means cover. If exchanges
/// run beside several steps and the network is slower than computation, steps take only the time of
/// computation until so many exchanges are under way that workers have to wait for them. Such steps
/// are shorter than those of a long run, and ranks send less in them than they exchange.
///
/// What ranks exchange per step is what they sent until the end of the run, where they wait for
/// everything that is under way, divided by the `steps_made`. So the result is right for algorithms
/// that exchange as much in every cycle. `steps_made` exceeds the number of steps of the summary if
/// a run ends at a target, which ranks learn about after they have begun later steps.
///
/// Returns null, or {"behind_bytes": what ranks exchanged in the summary's steps and sent after
/// them, "long_run_step_s": the time in which the network carried what ranks exchange in a step, or
/// null if it carried nothing}. `interval_steps` is the number of steps from one exchange to the
/// next: as much may be under way at any time.
Json backlog(const Summary& summary, std::span<const RankResult> ranks, long steps_made,
             long interval_steps);

}  // namespace trigram
