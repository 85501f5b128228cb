#pragma once

#include <cstddef>
#include <vector>

namespace trigram::test {

/// Bytes that flow through links from `start_s` on. Links are given as indices.
struct Flow {
  double start_s = 0;
  double bytes = 0;
  std::vector<std::size_t> links;
};

/// The time at which each flow ends, if links (bytes per second) are shared max-min fairly at all
/// times. The rates of all flows grow equally until a link is full; the flows on this link then
/// keep their rates (progressive filling; Bertsekas and Gallager, Data Networks, section 6.5.2).
std::vector<double> max_min_ends(const std::vector<double>& bandwidth_Bps, std::vector<Flow> flows);

/// A directed edge of a flow network.
struct Edge {
  int from = 0, to = 0;
  double capacity = 0;
};

/// The maximum flow from `sources` to `sinks`, which equals the minimum capacity that separates
/// them (augmenting along shortest paths: Edmonds and Karp, JACM 19(2), 1972).
double max_flow(int vertices, const std::vector<Edge>& edges, const std::vector<int>& sources,
                const std::vector<int>& sinks);

/// The minimum of max_flow over all ways to divide `members` into two halves, in both directions.
/// If their number n is odd, one half has floor(n / 2) members. Feasible for about a dozen members.
double brute_force_bisection(int vertices, const std::vector<Edge>& edges,
                             const std::vector<int>& members);

/// The number of edges of a shortest path from `source` to each vertex; -1 if there is none.
std::vector<int> distances(int vertices, const std::vector<Edge>& edges, int source);

}  // namespace trigram::test
