#pragma once

namespace trigram {

// Machines and connections of the same model differ. These functions give the deviation of each,
// which is constant in time. The deviations follow a golden-ratio (Kronecker) sequence of
// quantiles: the first n are spread evenly for every n, so that the slowest of n does not depend on
// luck.

/// The quantile `share`, in (0, 1), of the standard normal distribution; within 4.5e-4 (Abramowitz
/// and Stegun, Handbook of Mathematical Functions, 1964, formula 26.2.23).
double normal_quantile(double share);

/// The factor on the time of worker `rank` relative to the median worker: lognormal, where
/// `variation` is the standard deviation of the logarithm.
double worker_slowness(double variation, int rank);

/// The throughput of a node's software relative to the median node: lognormal in the same way.
double node_swiftness(double variation, int node);

/// A connection between two workers of different nodes, in a cluster of `nodes` nodes.
struct NodeConnection {
  int nodes = 1;
  int source_node = 0, destination_node = 0;
  int source_worker = 0, destination_worker = 0;  // indices within their nodes
};

/// The throughput of a connection relative to the median connection: lognormal in the same way.
double connection_swiftness(double variation, const NodeConnection& connection);

}  // namespace trigram
