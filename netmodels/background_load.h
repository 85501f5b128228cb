#pragma once

#include <string>

#include "netmodels/cluster.h"

namespace trigram {

/// Throws ConfigError below `pointer` if the background traffic needs more than kMostBackground of
/// the least long-run bandwidth of a link: flows could then arrive faster than they leave, and
/// messages that share the link would never end. Also throws if flows are so small that a
/// simulation would take too long, or if there are too many NICs to check.
void check_background(const Cluster& cluster, const std::string& pointer);

}  // namespace trigram
