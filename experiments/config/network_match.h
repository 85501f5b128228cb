#pragma once

#include <string>

#include "experiments/config/experiment.h"

namespace trigram {

/// Why the run's times do not depend on the cluster's network, and how to have them depend on it;
/// empty where they do, or where there is one rank, which sends no messages. `coordinates` are
/// those of the run in its sweep: options of the network that are swept are named.
std::string network_warning(const Experiment& experiment, const Json& coordinates);

}  // namespace trigram
