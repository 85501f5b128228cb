#include "algorithms/asynchronous/path_search.h"

#include <algorithm>
#include <numeric>

namespace trigram {

PathSearch::PathSearch(const PeerGraph& graph, int ranks)
    : finished_(at(ranks), false), stays_(at(ranks), false), part_(at(ranks)), parts_(ranks) {
  for (int rank = 0; rank < ranks; ++rank)
    neighbours_.push_back(graph.peers(rank, ranks, 0).send_to);
  std::iota(part_.begin(), part_.end(), 0);
}

std::vector<int> PathSearch::finish(int rank) {
  finished_[at(rank)] = true;
  if (!accept_edges()) return {};
  std::vector<int> members;
  for (int r = 0; r < static_cast<int>(finished_.size()); ++r)
    if (finished_[at(r)]) members.push_back(r);
  finished_ = stays_;
  return members;
}

std::vector<int> PathSearch::finish_last(int rank) {
  stays_[at(rank)] = true;
  return finish(rank);
}

/// Accepts all possible edges, one by one in the order of ranks. If there is only one rank, it
/// never waits.
bool PathSearch::accept_edges() {
  bool any = finished_.size() == 1;
  for (int a = 0; a < static_cast<int>(finished_.size()); ++a)
    for (const int b : neighbours_[at(a)]) {
      if (!finished_[at(a)] || !finished_[at(b)] || part_[at(a)] == part_[at(b)]) continue;
      any = true;
      join(part_[at(a)], part_[at(b)]);
    }
  if (parts_ == 1) {
    std::iota(part_.begin(), part_.end(), 0);
    parts_ = static_cast<int>(part_.size());
  }
  return any;
}

void PathSearch::join(int part, int other) {
  std::replace(part_.begin(), part_.end(), other, part);
  --parts_;
}

}  // namespace trigram
