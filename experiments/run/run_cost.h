#pragma once

#include "core/json.h"
#include "netmodels/cluster.h"

namespace trigram {

/// The cost of a run in money and energy, given its summary: null if the cluster has neither prices
/// nor the power of its accelerators. `trainers` is the number of ranks that train; the others, the
/// servers, count as idle.
Json run_cost(const Cluster& cluster, const Json& summary, int trainers);

/// Makes the totals of a cost null, because the number of nodes changed during the run.
void forget_totals(Json& cost);

}  // namespace trigram
