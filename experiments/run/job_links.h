#pragma once

#include <vector>

#include "core/runtime.h"
#include "experiments/run/link_check.h"

namespace trigram {

/// Connects all ranks, then measures the link between the first two nodes in both directions. The
/// first ranks of these nodes exchange messages while all other ranks are silent. The latency is
/// half the median round trip of short messages; the median time of long messages gives the
/// bandwidth. Collective over all processes of a world. Returns one link per direction, with the
/// achieved values; these are 0 in processes other than that of rank 0. Empty for a single node.
std::vector<CheckedLink> check_job_links(Runtime& runtime, const Cluster& cluster);

}  // namespace trigram
