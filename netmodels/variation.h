#pragma once

namespace trigram {

// Machines and connections of the same model differ. These functions give the factor of each
// machine or connection, which is constant in time. The factors follow a golden-ratio (Kronecker)
// sequence of quantiles: for every n, the first n quantiles are spread evenly, so that the slowest
// of n machines does not depend on chance.

/// The quantile `share`, in (0, 1), of the standard normal distribution; within 4.5e-4 (Abramowitz
/// and Stegun, Handbook of Mathematical Functions, 1964, formula 26.2.23).
double normal_quantile(double share);

/// The factor on the time of worker `rank`, relative to the median worker. It is lognormal;
/// `variation` is the standard deviation of its logarithm.
double worker_time_factor(double variation, int rank);

/// The throughput of a node's software, relative to the median node; lognormal as above.
double node_throughput_factor(double variation, int node);

/// A connection between two workers of different nodes, in a cluster of `nodes` nodes.
struct NodeConnection {
  int nodes = 1;
  int source_node = 0, destination_node = 0;
  int source_worker = 0, destination_worker = 0;  // indices within their nodes
};

/// The throughput of a connection, relative to the median connection; lognormal as above.
double connection_throughput_factor(double variation, const NodeConnection& connection);

}  // namespace trigram
