#pragma once

#include <string>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// An SVG picture of a cluster's network: every node with its workers, every switch and link; or,
/// when these are some hundreds, one box for all vertices of a tier (draw_diagram).
std::string draw(const Cluster& cluster, const Network& network);

/// The second of these: tiers of vertices, and how many links of what bandwidth join them.
std::string draw_diagram(const Network& network);

/// "100GB/s", "0.333GB/s": at most three digits, for reading.
std::string short_bandwidth(double Bps);

}  // namespace trigram
