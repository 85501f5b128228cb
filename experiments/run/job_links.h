#pragma once

#include <vector>

#include "core/runtime.h"
#include "experiments/run/link_check.h"

namespace trigram {

/// Connects all ranks, then measures both directions between the first two nodes, by messages with
/// values between their first ranks while all other ranks are silent. Half the median round trip of
/// small messages is the latency; the median of large messages gives the bandwidth. Collective over
/// all processes of a world; only rank 0 gets the achieved values. Empty for a single node.
std::vector<CheckedLink> check_job_links(Runtime& runtime, const Cluster& cluster);

}  // namespace trigram
