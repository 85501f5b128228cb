#pragma once

#include <string>

#include "netmodels/cluster.h"
#include "netmodels/network/network.h"

namespace trigram {

/// An SVG picture of a cluster's network that shows every node with its workers, every switch and
/// every link. If there are more than some hundred nodes, switches or workers, returns
/// draw_diagram.
std::string draw(const Cluster& cluster, const Network& network);

/// An SVG picture with one box for each tier of vertices, and the number and bandwidth of the links
/// between tiers.
std::string draw_diagram(const Network& network);

/// A bandwidth as text, rounded to at most four digits: "100 GB/s", "0.3333 GB/s".
std::string short_bandwidth(double Bps);

}  // namespace trigram
