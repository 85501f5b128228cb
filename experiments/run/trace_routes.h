#pragma once

#include "core/json.h"
#include "core/layout.h"
#include "netmodels/network/network.h"

namespace trigram {

/// Adds to a trace, for every pair of ranks between which it shows messages, in
/// "otherData"/"routes" by "SOURCE>DESTINATION": the latency of the route, the bandwidth that a
/// message alone gets, the narrowest link, and whether the ranks are on one node.
void add_routes(Json& trace, const Network& network, const Layout& layout);

}  // namespace trigram
