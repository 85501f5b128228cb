#include "algorithms/peers/peer_graph.h"

#include <set>

namespace trigram {

std::vector<int> PeerGraph::partners(int rank, int size) const {
  std::set<int> met;
  const long steps = period(size);
  for (int other = 0; steps == kAperiodic && other < size; ++other)
    if (other != rank) met.insert(other);
  for (long t = 0; t < steps; ++t)
    for (const int peer : peers(rank, size, t).send_to) met.insert(peer);
  return {met.begin(), met.end()};
}

}  // namespace trigram
