#pragma once

#include <vector>

#include "core/runtime.h"
#include "experiments/run/link_check.h"

namespace trigram {

/// Measures both directions between the first two nodes, by messages with values between their
/// first ranks while all others are silent, after all ranks have been connected: half of the round
/// trip of a small one is the latency, the median of large ones gives the bandwidth. All processes
/// of a world call it; rank 0 learns the result. Nothing is measured where there is one node.
std::vector<CheckedLink> check_job_links(Runtime& runtime, const Cluster& cluster);

}  // namespace trigram
