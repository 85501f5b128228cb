#pragma once

#include <string>

#include "netmodels/cluster.h"

namespace trigram {

/// Throws ConfigError below `pointer` if background traffic needs more than the fraction
/// kMostBackground of the least long-run bandwidth of any link: if flows arrive faster than they
/// leave, messages that share the link never end. Also throws if flows are so small that a
/// simulation would take too long, or if there are too many NICs to check.
void check_background(const Cluster& cluster, const std::string& pointer);

}  // namespace trigram
