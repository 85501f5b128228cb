#pragma once

#include <vector>

namespace trigram::test {

/// A directed edge of a flow network.
struct Edge {
  int from = 0, to = 0;
  double capacity = 0;
};

/// The largest flow from `sources` to `sinks`, which is the least capacity that separates them
/// (augmenting along shortest paths: Edmonds and Karp, JACM 19(2), 1972).
double max_flow(int vertices, const std::vector<Edge>& edges, const std::vector<int>& sources,
                const std::vector<int>& sinks);

/// The least max_flow from one half of `members` to the other, over all halves: those of
/// floor(n / 2) to the rest, and back. For a dozen members or so.
double bisection_by_force(int vertices, const std::vector<Edge>& edges,
                          const std::vector<int>& members);

/// The number of edges of a shortest path from `source` to each vertex; -1 where there is none.
std::vector<int> distances(int vertices, const std::vector<Edge>& edges, int source);

}  // namespace trigram::test
