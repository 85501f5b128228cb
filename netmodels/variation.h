#pragma once

namespace trigram {

// Machines and connections that are sold as equal are not. What follows tells by how much each is
// off, the same at all times. The places of a distribution that they have follow a golden-ratio
// (Kronecker) sequence: the first n of them are spread evenly for every n, so what the slowest of n
// is does not depend on luck.

/// The value below which a standard normal variable is with probability `share`, in (0, 1); within
/// 4.5e-4 (Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, formula 26.2.23).
double normal_quantile(double share);

/// By how much worker `rank` takes longer for everything than the median worker: lognormal, with
/// `variation` the standard deviation of the logarithm.
double worker_slowness(double variation, int rank);

/// What the software of a node moves at most, as a share of what the median node's does: lognormal
/// like the above.
double node_swiftness(double variation, int node);

/// A connection between workers of two of so many nodes.
struct NodeConnection {
  int nodes = 1;
  int source_node = 0, destination_node = 0;
  int source_worker = 0, destination_worker = 0;  // their places in their nodes
};

/// The same of a connection's.
double connection_swiftness(double variation, const NodeConnection& connection);

}  // namespace trigram
