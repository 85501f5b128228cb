#pragma once

#include <string>

#include "netmodels/cluster.h"

namespace trigram {

/// Throws ConfigError, below `pointer`, where the traffic of others asks any link for more than
/// kMostBackground of what it moves in the long run and at its worst: flows would come faster than
/// they leave, and messages that share the link with them never end. Also where its flows are so
/// small that simulating them would not end.
void check_background(const Cluster& cluster, const std::string& pointer);

}  // namespace trigram
