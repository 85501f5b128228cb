#pragma once

#include <cstddef>
#include <vector>

namespace trigram::test {

/// Bytes that flow from `start_s` on through links; links are indices.
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

/// The minimum of max_flow from one half of `members` to the other, in both directions, over all
/// ways to choose floor(n / 2) members as one half. It is feasible for about a dozen members.
double bisection_by_force(int vertices, const std::vector<Edge>& edges,
                          const std::vector<int>& members);

/// The number of edges of a shortest path from `source` to each vertex; -1 if there is none.
std::vector<int> distances(int vertices, const std::vector<Edge>& edges, int source);

}  // namespace trigram::test
