#pragma once

#include <string>

#include "netmodels/cluster.h"

namespace trigram {

/// Throws ConfigError below `pointer` if the background traffic asks any link for more than
/// kMostBackground of its long-run bandwidth at its worst: flows would then arrive faster than they
/// leave, and messages that share the link would never end. Also throws if its flows are so small
/// that the simulation would not end.
void check_background(const Cluster& cluster, const std::string& pointer);

}  // namespace trigram
