#pragma once

#include <span>

#include "core/metering/meter.h"
#include "experiments/run/rank_main.h"

namespace trigram {

/// A lower bound, in seconds, of the time in which the cluster's network can carry the bytes in
/// `arrived`, which is indexed by sending rank. Like the time of a run, it excludes the time before
/// the ranks' first steps.
double lower_bound(const Cluster& cluster, std::span<const Counters> arrived,
                   std::span<const RankResult> ranks);

/// Throws InvariantError if the reported time of a simulated run is below its lower bound.
void check_lower_bound(double time_s, double bound_s);

}  // namespace trigram
